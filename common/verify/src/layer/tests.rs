use super::*;

/// Every position takes so many bytes, or says so.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Large(usize);

impl Position for Large {
    fn bytes(&self) -> usize {
        1000
    }

    fn write(&self, _: &mut impl Write) -> io::Result<()> {
        unreachable!("nothing is spilled")
    }

    fn read(_: &mut impl Read) -> io::Result<Large> {
        unreachable!("nothing is spilled")
    }
}

#[test]
fn positions_are_taken_as_memory_holds_them_and_at_least_one() {
    for (memory, taken) in [(0, 1), (3 * 4 * 5000, 5), (usize::MAX, 65_536)] {
        let settings =
            Settings { threads: std::num::NonZero::<usize>::MIN, memory, ..Settings::default() };
        let next = NextLayer::new(&settings);
        next.keep((0..100_000).map(Large).collect());
        let mut layer = next.finish().unwrap();
        let positions = layer.take(65_536).unwrap();
        assert_eq!(positions.len(), taken);
        assert_eq!(layer.take(1).unwrap()[0].0, taken, "the next one follows");
    }
}
