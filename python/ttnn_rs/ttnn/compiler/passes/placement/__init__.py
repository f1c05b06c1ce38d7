"""Where tensors of the later epochs lie: the device, its chip, and their layouts."""
