use synth::collective::Kind;
use synth::plan::{Control, Parts, Wish, synthesise};
use synth::topology::*;

#[test]
fn probe() {
    let mesh = |e: &[u32]| Torus { wrap: vec![false; e.len()], ..Torus::new(e) };
    let shapes = vec![
        mesh(&[3, 3]),
        Torus::new(&[8]),
        Torus::new(&[4, 4]),
        Torus::new(&[3, 3]),
        Torus::new(&[2, 3, 4]),
        Torus::new(&[5]),
        mesh(&[2, 4]),
        Torus::new(&[4, 4, 4]),
    ];
    let mut rng = fastrand::Rng::with_seed(3);
    for shape in shapes {
        let sound = Topology::new(TopologySpec::new(Shape::Torus(shape.clone()))).unwrap();
        let cables: Vec<FailedLink> = sound
            .links()
            .iter()
            .filter(|l| l.direction.unwrap().positive)
            .map(|l| FailedLink { from: l.from, to: l.to, dim: l.direction.map(DimRef::Direction), both: true })
            .collect();
        let big = sound.rank_count() == 64;
        let (mut total, mut met, mut bad) = (0, 0, 0);
        let start = std::time::Instant::now();
        for f in 0..4usize {
            for rep in 0..(if f == 0 {
                1
            } else if big {
                2
            } else {
                4
            }) {
                let mut c = cables.clone();
                rng.shuffle(&mut c);
                let mut spec =
                    TopologySpec { failed_links: c[..f].to_vec(), ..TopologySpec::new(Shape::Torus(shape.clone())) };
                if f == 2 && rep == 1 {
                    spec.failed_links.clear();
                    spec.failed_ranks = vec![RankId(1)];
                }
                let t = Topology::new(spec).unwrap();
                if t.components().len() != 1 {
                    continue;
                }
                for root in t.live_ranks().step_by(if big { 9 } else { 1 }) {
                    for kind in [Kind::Scatter(root), Kind::Gather(root)] {
                        for parts in [1, 3, 5] {
                            if big && parts == 5 {
                                continue;
                            }
                            let s2 = std::time::Instant::now();
                            let p = synthesise(
                                &t,
                                &kind,
                                &Wish { parts: Parts::Fixed(parts), ..Wish::default() },
                                &Control::unlimited(),
                            )
                            .unwrap();
                            let (s, w) = (p.schedule.step_count() as u32, p.schedule.total_width() as u32);
                            let (bs, bw) = (p.bounds.least_steps(), p.bounds.least_width(parts));
                            total += 1;
                            if s2.elapsed().as_secs_f32() > 1.0 {
                                println!("slow {:?} {kind:?} {parts} {:?}", shape.extents, s2.elapsed());
                            }
                            if (s, w) == (bs, bw.max(bs)) {
                                met += 1
                            } else {
                                if w != bw.max(bs) {
                                    bad += 1;
                                }
                                println!(
                                    "{:?} wrap {:?} f {f} {:?} {kind:?} parts {parts}: {s}/{w} bound {bs}/{bw}",
                                    shape.extents,
                                    shape.wrap,
                                    t.spec().failed_links.iter().map(|f| (f.from.0, f.to.0)).collect::<Vec<_>>()
                                );
                            }
                        }
                    }
                }
            }
        }
        println!("== {:?}: {met} of {total} joint, {bad} volume above; {:?}", shape.extents, start.elapsed());
    }
}
