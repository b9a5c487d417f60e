# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tokens.py FOLDER < text > tokens      tokens.py --back FOLDER < tokens > text

Converts text to numbers of tokens, line by line, or back, by the tokenizer.json in a checkpoint's folder (pip install
tokenizers).
"""

import sys

from tokenizers import Tokenizer

if len(sys.argv) < 2:
    sys.exit(__doc__)
back = sys.argv[1] == "--back"
tokenizer = Tokenizer.from_file(sys.argv[-1] + "/tokenizer.json")
for line in sys.stdin:
    if back:
        print(tokenizer.decode([int(word) for word in line.split()]))
    else:
        print(*tokenizer.encode(line.rstrip("\n")).ids)
