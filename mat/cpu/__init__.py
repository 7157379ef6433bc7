"""Engines that compute on host memory."""
