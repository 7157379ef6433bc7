"""Mats in files: .npy, .npz and .safetensors, and raw elements. Nothing in them is executed."""
