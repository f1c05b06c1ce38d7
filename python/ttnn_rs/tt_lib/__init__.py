"""The official package of this name: helpers of the host that tests share."""
