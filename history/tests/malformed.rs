//! What is said about texts that are no history: the line, the column and the words. `INSTA_UPDATE=always` writes the
//! snapshot anew.

use history::{ReadOptions, read};

/// Under a heading for each format, texts with something wrong.
const TEXTS: [(&str, &[&[u8]]); 6] = [
    (
        "no format at all",
        &[b"", b" \n\t", b"hello", b"[{\"time\":1}]", b"\x1f\x8b\x08\0", b"\xff\xfe{\0", b"<html>\n0 ok"],
    ),
    (
        "JSON Lines",
        &[
            b"{\"time\":oops}\n",
            b"\n{\"time\":1,\"process\":0,\"type\":\"begin\",\"f\":\"x\"}\n",
            b"{\"time\":1,\"process\":-1,\"type\":\"invoke\",\"f\":\"x\"}\n",
            b"{\"time\":1,\"process\":4294967296,\"type\":\"invoke\",\"f\":\"x\"}\n",
            b"{\"time\":-1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n",
            b"{\"time\":1.5,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n",
            b"{\"time\":18446744073709551616,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n",
            b"{\"time\":1,\"time\":2,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n",
            b"{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"} {}\n",
            b"{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\",\"value\":\"\xff\"}\n",
            b"{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\",\"value\":\"\\ud800\"}\n",
            b"{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\",\"value\":[1,]}\r\n",
            b"{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n{\"time\":2\n{}\n",
            b"{\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n7\n",
        ],
    ),
    (
        "EDN",
        &[
            b"{:process 0 :type :invoke :f :x",
            b"{:process 0 :type :invoke}",
            b"{:process 0 :type :begin :f :x}",
            b"{:process 0 :process 0 :type :invoke :f :x}",
            b"{:process :c1 :type :invoke :f :x}",
            b"{:process 0 :type :invoke :f :x :value}",
            b"{:process 0 :type :invoke :f :x :value 1x}",
            b"{:process 0 :type :invoke :f :x :value 007}",
            b"{:process 0 :type :invoke :f :x :value 1/0}",
            b"{:process 0 :type :invoke :f :x\n :value \"\\q\"}",
            b"{:process 0 :type :invoke :f :x :value \"\xff\"}",
            b"{:process 0 :type :invoke :f :x :value \\longer}",
            b"{:process 0 :type :invoke :f :x :value {:a}}",
            b"{:process 0 :type :invoke :f :x :value (1 2]}",
            b"{:process 0 :type :invoke :f :x :value #}",
            b"{:process 0 :type :invoke :f :x :value ##Nix}",
            b"[{:process 0 :type :invoke :f :x}",
            b"[{:process 0 :type :invoke :f :x}] 7",
            b"{:process 0 :type :invoke :f :x}\n:ok",
            b"#op [1]",
        ],
    ),
    (
        "Jepsen's text log",
        &[
            b"0 :invoke :read nil\n:ok :read 1\n",
            b"0 :invoke :read nil\nx :ok :read 1\n",
            b"0 :invoke\n",
            b"0 :invoke :write {1\n",
            b"0 :invoke :write 1 \xff\n",
        ],
    ),
    (
        "lock lines",
        &[
            b"0 invoke acquire\n0 ok\n",
            b"0 invoke acquire\n0 done acquire\n",
            b"0 invoke acquire\nc1 ok acquire\n",
            b"0 invoke acquire\n0 ok acquire -1\n",
            b"0 invoke acquire\n0 ok acquire 18446744073709551616\n",
            b"0 invoke acquire\n0 ok acquire 1 2\n",
        ],
    ),
    (
        "no recorder's",
        &[
            b"0 ok acquire\n",
            b"0 invoke acquire\n0 invoke acquire\n",
            b"0 invoke acquire\n0 ok release\n",
            b"0 invoke acquire\n0 info acquire\n0 invoke release\n",
            b"{\"index\":2,\"time\":1,\"process\":0,\"type\":\"invoke\",\"f\":\"x\"}\n{\"index\":1,\"time\":1,\"process\":0,\"type\":\"ok\",\"f\":\"x\"}\n",
        ],
    ),
];

#[test]
fn the_place_and_the_fault_are_named() {
    let mut told = String::new();
    for (heading, texts) in TEXTS {
        told += &format!("{heading}\n");
        for text in texts {
            let error = read(*text, &ReadOptions::default()).expect_err(&text.escape_ascii().to_string());
            told += &format!("  {}\n      {error}\n", text.escape_ascii());
        }
    }
    insta::assert_snapshot!("malformed", told);
}
