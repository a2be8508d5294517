"""Commands about machines that one builds."""
