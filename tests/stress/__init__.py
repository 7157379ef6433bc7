"""Interrupts, threads, tasks and forks at the worst moments: what nothing may leave behind."""
