#!/bin/bash
# Workers of a shared campaign as a Slurm job array:  OSPREY_STORE=postgres://... sbatch --array=1-64 deploy/slurm.sh
# The password is in ~/.pgpass, or in PGPASSWORD of the submitting shell.
#SBATCH --job-name=osprey --cpus-per-task=4 --mem-per-cpu=2G --time=08:00:00 --signal=TERM@120 --requeue
out=${OSPREY_OUT:-osprey-worker}/array-${SLURM_ARRAY_JOB_ID:-0}-${SLURM_ARRAY_TASK_ID:-0}
# Exit code 10 says that the campaign has findings.
srun "${OSPREY:-osprey}" worker --store "$OSPREY_STORE" --jobs "${SLURM_CPUS_PER_TASK:-1}" --out "$out" || [ $? = 10 ]
