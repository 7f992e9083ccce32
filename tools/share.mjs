// Why: a change is not checked by every benchmark, but by a part of them that differs from one change to the next:
// `SHARE=<turn>/<of>` selects every <of>th file, beginning with another one in each turn. Without it all are run.

/**
 * @template T
 * @param {readonly T[]} all sorted
 * @param {NodeJS.ProcessEnv} env
 * @returns {readonly T[]} those whose turn it is
 */
export function inTurn(all, { SHARE = "0/1" } = process.env) {
  const [turn = 0, of = 1] = SHARE.split("/").map(Number);
  if (!(Number.isInteger(turn) && Number.isInteger(of) && of > 0)) throw new Error(`SHARE=${SHARE}: give <turn>/<of>`);
  return all.filter((_, at) => at % of === turn % of);
}
