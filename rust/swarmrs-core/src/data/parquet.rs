//! A check of the counts and sizes in Parquet files before they are read.
//!
//! Readers trust page headers: a damaged one makes them allocate memory for up to 2^61 values and abort the process. The
//! check visits all page headers; it does not decode values.
//!
//! Metadata and headers are structs of Thrift's compact protocol: fields with a type and an id, relative to the id of the
//! previous field; integers are zigzag varints.

/// Limit on the nesting of structs; Parquet uses less than half of it.
const MAX_DEPTH: usize = 16;

/// A cursor over the unparsed bytes; its methods return None if the bytes do not follow the protocol.
struct Cursor<'a> {
    rest: &'a [u8],
}

/// A value of the compact protocol; types that are not needed are skipped.
enum Value<'r, 'a> {
    Int(i64),
    Struct(&'r mut Cursor<'a>),
    List(&'r mut Cursor<'a>, usize),
}

impl<'a> Cursor<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, n: usize) -> Option<()> {
        self.rest = self.rest.get(n..)?;
        Some(())
    }

    /// An unsigned varint: seven bits per byte, little-endian.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A signed integer: zigzag encoding has the sign in the lowest bit.
    fn int(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Calls `visit` with the id and the value of each field of a struct. `visit` may parse a struct or list; otherwise it
    /// is skipped.
    fn fields(
        &mut self,
        depth: usize,
        visit: &mut dyn FnMut(i64, Value<'_, 'a>) -> Option<()>,
    ) -> Option<()> {
        let mut id = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.int()?,
                step => id + i64::from(step),
            };
            self.value(head & 0x0f, depth, &mut |value| visit(id, value))?;
        }
    }

    /// Parses one value of a type. A struct or a list that `visit` does not parse is skipped.
    fn value(
        &mut self,
        kind: u8,
        depth: usize,
        visit: &mut dyn FnMut(Value<'_, 'a>) -> Option<()>,
    ) -> Option<()> {
        if depth == 0 {
            return None;
        }
        match kind {
            // The type of a boolean field encodes its value.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => {
                let value = self.int()?;
                visit(Value::Int(value))
            }
            7 => self.skip(8),
            8 => {
                let n = self.varint()?;
                self.skip(usize::try_from(n).ok()?)
            }
            9 | 10 => {
                let head = self.byte()?;
                let n = match head >> 4 {
                    15 => usize::try_from(self.varint()?).ok()?,
                    few => usize::from(few),
                };
                let before = self.rest.len();
                if head & 0x0f == 12 {
                    visit(Value::List(self, n))?;
                }
                if self.rest.len() == before {
                    for _ in 0..n {
                        match head & 0x0f {
                            // Booleans in a list take a byte each.
                            1 | 2 => self.skip(1)?,
                            kind => self.value(kind, depth - 1, &mut |_| Some(()))?,
                        }
                    }
                }
                Some(())
            }
            12 => {
                let before = self.rest.len();
                visit(Value::Struct(self))?;
                if self.rest.len() == before {
                    self.fields(depth - 1, &mut |_, _| Some(()))?;
                }
                Some(())
            }
            // Parquet has no maps.
            _ => None,
        }
    }

    /// The integers of a struct that have these ids.
    fn ints<const N: usize>(&mut self, ids: [i64; N]) -> Option<[Option<i64>; N]> {
        let mut found = [None; N];
        self.fields(MAX_DEPTH, &mut |id, value| {
            let position = ids.iter().position(|&wanted| wanted == id);
            if let (Value::Int(value), Some(position)) = (value, position) {
                found[position] = Some(value);
            }
            Some(())
        })?;
        Some(found)
    }
}

/// A column chunk of a row group: its number of values and the byte range of its pages.
struct Chunk {
    n_values: u64,
    start: usize,
    length: usize,
}

/// True if the counts and sizes in the metadata and the page headers of a Parquet file are consistent, and no column chunk
/// has more than `limit` values.
pub fn has_sound_counts(file: &[u8], limit: u64) -> bool {
    let is_sound =
        |chunk: &Chunk| chunk.n_values <= limit && has_sound_pages(file, chunk).unwrap_or(false);
    chunks(file).is_some_and(|chunks| chunks.iter().all(is_sound))
}

/// The column chunks of all row groups.
fn chunks(file: &[u8]) -> Option<Vec<Chunk>> {
    let (head, magic) = file.split_last_chunk::<4>()?;
    let (head, length) = head.split_last_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let metadata = &head[head.len().checked_sub(length)?..];
    if magic != b"PAR1" {
        return None;
    }
    let mut chunks = Vec::new();
    Cursor { rest: metadata }.fields(MAX_DEPTH, &mut |id, value| {
        // FileMetaData.row_groups
        let (4, Value::List(groups, n)) = (id, value) else { return Some(()) };
        for _ in 0..n {
            groups.fields(MAX_DEPTH, &mut |id, value| {
                // RowGroup.columns
                let (1, Value::List(columns, n)) = (id, value) else { return Some(()) };
                for _ in 0..n {
                    columns.fields(MAX_DEPTH, &mut |id, value| {
                        // ColumnChunk.meta_data
                        let (3, Value::Struct(column)) = (id, value) else { return Some(()) };
                        // num_values, total_compressed_size, data_page_offset, dictionary_page_offset
                        let [n_values, length, data, dictionary] = column.ints([5, 7, 9, 11])?;
                        let start = match dictionary {
                            Some(dictionary) if dictionary > 0 => dictionary.min(data?),
                            _ => data?,
                        };
                        chunks.push(Chunk {
                            n_values: u64::try_from(n_values?).ok()?,
                            start: usize::try_from(start).ok()?,
                            length: usize::try_from(length?).ok()?,
                        });
                        Some(())
                    })?;
                }
                Some(())
            })?;
        }
        Some(())
    })?;
    Some(chunks)
}

/// True if the pages of a column chunk have its number of values; None if the headers cannot be parsed.
fn has_sound_pages(file: &[u8], chunk: &Chunk) -> Option<bool> {
    let mut pages = file.get(chunk.start..)?.get(..chunk.length)?;
    let mut n_values = 0u64;
    while n_values < chunk.n_values {
        let mut header = Cursor { rest: pages };
        let (mut sizes, mut values, mut entries) = ([None; 2], None, None);
        header.fields(MAX_DEPTH, &mut |id, value| {
            match (id, value) {
                // uncompressed_page_size, compressed_page_size
                (2 | 3, Value::Int(size)) => sizes[id as usize - 2] = Some(size),
                // data_page_header.num_values, that of version 2, dictionary_page_header.num_values
                (5 | 8, Value::Struct(data)) => values = data.ints([1])?[0],
                (7, Value::Struct(dictionary)) => entries = dictionary.ints([1])?[0],
                _ => {}
            }
            Some(())
        })?;
        let [unpacked, packed] = sizes;
        // A dictionary entry takes at least one byte.
        if entries.is_some_and(|n| !(0..=unpacked.unwrap_or(0)).contains(&n)) {
            return Some(false);
        }
        n_values += u64::try_from(values.unwrap_or(0)).ok()?;
        pages = header.rest.get(usize::try_from(packed?).ok()?..)?;
    }
    Some(n_values == chunk.n_values)
}
