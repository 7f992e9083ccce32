import { median } from "./statistics.ts";

/** What each of several rivals came to, round by round. */
export class Rounds<Name extends string, Values extends Readonly<Record<string, number>>> {
  readonly #values: Readonly<Record<Name, readonly Values[]>>;

  constructor(values: Readonly<Record<Name, readonly Values[]>>) {
    this.#values = values;
  }

  /** The median of one value. */
  of(name: Name, value: keyof Values): number {
    return median(this.#values[name].map((values) => Number(values[value])));
  }

  /** How many times the rival's value: the median of the ratios within each round. */
  ratio(names: readonly [name: Name, rival: Name], value: keyof Values): number {
    const [ours, theirs] = names.map((name) => this.#values[name].map((values) => Number(values[value])));
    return median((ours ?? []).map((own, round) => own / (theirs?.[round] ?? Number.NaN)));
  }
}

/** With `--short` what is measured counts for little: that it can be, and that the answers are right, is what is looked at. */
const MOST_ROUNDS = process.argv.includes("--short") ? 2 : Number.POSITIVE_INFINITY;

/** Measures each in turn, A/B/A/B, so that a busy moment of the machine falls on all alike. */
export async function interleave<Name extends string, Values extends Readonly<Record<string, number>>>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name) => Promise<Values>,
): Promise<Rounds<Name, Values>> {
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Values[]>;
  const count = Math.min(rounds, MOST_ROUNDS);
  for (let round = 0; round < count; round++) for (const name of names) values[name].push(await measure(name));
  return new Rounds(values);
}
