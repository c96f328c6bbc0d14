//! CRC-32 as in ZIP (ISO 3309: polynomial 0x04c11db7, bits reflected).

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1 == 1;
            remainder = (remainder >> 1) ^ if carry { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

/// The checksum of the bytes that it has seen.
#[derive(Clone, Copy)]
pub(super) struct Crc32(u32);

impl Crc32 {
    /// Nothing seen yet.
    pub const fn new() -> Self {
        Self(!0)
    }

    /// Takes in more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = TABLE[(self.0 as u8 ^ byte) as usize] ^ (self.0 >> 8);
        }
    }

    /// The checksum.
    pub const fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value_of_the_standard() {
        let mut crc = Crc32::new();
        crc.update(b"1234");
        crc.update(b"56789");
        assert_eq!(crc.value(), 0xcbf4_3926);
    }
}
