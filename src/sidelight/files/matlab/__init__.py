"""MATLAB 5 files: checked whole before SciPy opens them, then told apart by the shapes of their variables."""
