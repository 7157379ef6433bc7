"""An interpreter of PTX, for programs that NVRTC compiles for the mock driver."""
