//! Keys of positions, the same for mirror images.

use crate::connect4::{Bitboard, Connect4, Stones};

impl<B: Bitboard> Connect4<B> {
    /// The least of the keys of a position and of its mirror image.
    #[inline]
    pub(super) fn key_of_both(&self, stones: Stones<B>) -> B {
        let key = self.plain_key(stones);
        key.min(self.mirrored(key))
    }

    /// The key of a position as it stands: each column holds its stones as a number between
    /// 2^k - 1 and 2^(k+1) - 2 for k stones, so no two positions share one.
    #[inline]
    pub(super) fn plain_key(&self, stones: Stones<B>) -> B {
        stones.mover + stones.all
    }

    /// The key of the mirror image: the columns' fields in opposite order.
    #[inline]
    fn mirrored(&self, key: B) -> B {
        let mut mirror = key & self.middle_column;
        for &(left, distance) in &self.mirror_columns {
            let distance = distance as usize;
            mirror = mirror | ((key & left) << distance) | ((key >> distance) & left);
        }
        mirror
    }
}
