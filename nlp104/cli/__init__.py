"""The command line: ``nlp104 train | translate | evaluate | export | serve``."""
