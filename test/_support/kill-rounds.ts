/** Returns how often a slow test kills processes: KILL_ROUNDS reduces the number. */
export function killRounds(all: number): number {
  const { KILL_ROUNDS } = process.env;
  return KILL_ROUNDS === undefined ? all : Math.min(all, Number(KILL_ROUNDS));
}
