"""Run by `test_mpi.py`: a survey over the processes of an MPI job."""

from mpi4py.futures import MPIPoolExecutor

import collsynth as cs

if __name__ == "__main__":
    jobs = [cs.Torus(4, 4).fail_rank(rank) for rank in range(6)]
    with MPIPoolExecutor() as pool:
        outcomes = list(cs.survey(jobs, pool, seed=2))
    assert [outcome.plan for outcome in outcomes] == [cs.plan(job, seed=2) for job in jobs]
    print(f"{len(outcomes)} planned")
