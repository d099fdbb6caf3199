"""What the local server's pages get beside Label Studio's own: keys and names, as one small script.

The folder is on the path of the server's process, which runs in another environment: nothing here imports medqrels.
"""
