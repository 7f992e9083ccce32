/** How often processes are killed in a slow test: KILL_ROUNDS says so where time is short. */
export function killRounds(all: number): number {
  const { KILL_ROUNDS } = process.env;
  return KILL_ROUNDS === undefined ? all : Math.min(all, Number(KILL_ROUNDS));
}
