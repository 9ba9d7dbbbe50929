//! Just enough EDN for the vectors.

#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    Nil,
    Int(i64),
    Text(String),
    /// A keyword without its colon, or a symbol.
    Word(String),
    List(Vec<Form>),
}

impl Form {
    /// In a map read as a list of keys and values.
    pub fn get(&self, key: &str) -> &Form {
        let Form::List(items) = self else { return &Form::Nil };
        let value = items.chunks(2).find(|pair| pair[0] == Form::Word(key.into())).map(|pair| &pair[1]);
        value.unwrap_or(&Form::Nil)
    }

    pub fn word(&self) -> &str {
        match self {
            Form::Word(word) => word,
            _ => "",
        }
    }

    pub fn int(&self) -> Option<i64> {
        match self {
            Form::Int(int) => Some(*int),
            _ => None,
        }
    }

    pub fn items(&self) -> &[Form] {
        match self {
            Form::List(items) => items,
            _ => &[],
        }
    }
}

/// All the forms of a text.
pub fn forms(text: &str) -> Vec<Form> {
    let mut open = vec![Vec::new()];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            ';' => rest.find('\n').unwrap_or(rest.len()),
            '(' | '[' | '{' => {
                open.push(Vec::new());
                1
            }
            ')' | ']' | '}' => {
                let list = open.pop().expect("brackets match");
                open.last_mut().expect("brackets match").push(Form::List(list));
                1
            }
            '"' => {
                let end = text_end(rest).expect("texts end");
                open.last_mut().expect("brackets match").push(Form::Text(rest[1..end].into()));
                end + 1
            }
            _ => {
                let end =
                    rest.find(|c: char| c.is_whitespace() || ",()[]{};".contains(c)).unwrap_or(rest.len());
                open.last_mut().expect("brackets match").push(atom(&rest[..end]));
                end
            }
        };
        rest = rest[length..].trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    open.pop().expect("brackets match")
}

/// Where the text that begins here ends.
fn text_end(rest: &str) -> Option<usize> {
    let mut is_escaped = false;
    rest.char_indices().skip(1).find_map(|(at, letter)| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at)
    })
}

fn atom(text: &str) -> Form {
    match (text, text.parse()) {
        ("nil", _) => Form::Nil,
        (_, Ok(int)) => Form::Int(int),
        _ => Form::Word(text.trim_start_matches(':').into()),
    }
}
