"""Mats in files: .npy, .npz and .safetensors, and raw elements; nothing read from a file is ever
run.
"""
