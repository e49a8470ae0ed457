"""`@xt.kernel`: functions whose statements are one compiled unit, and those of the optimisers."""
