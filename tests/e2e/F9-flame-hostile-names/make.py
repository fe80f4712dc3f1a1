NAMES = [b"<script>alert(1)</script>", b"]]>", b'"]]><img src=x onerror=alert(1)>', b"' onload='alert(1)", b"&amp&lt", b"\x1b[31mred\x1b[0m",
         b"tab\there", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbf\xbf\xef\xbf\xbe", b"\x01\x02\x7f", b"\xc2\x85",
         b"std::map<" * 300 + b"int" + b" >" * 300 + b"::find(int)", "函数".encode() * 50, b"-->", b"<!--", b"<![CDATA[", b"${x}`"]
with open("in.folded", "wb") as out:
    for i, name in enumerate(NAMES):
        out.write(b"main;" + name + b";leaf%d 5\n" % i)
