# Compiled, since small Mats are copied often; it declares no types.
