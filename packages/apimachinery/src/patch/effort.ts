import { ApiError } from "../api-error.ts";

/** How many values one patch may look at: about a tenth of a second, several times what an object of 1 MiB holds. */
const MAX_EFFORT = 1_000_000;

/** Elements of an array that are shifted by one cost next to nothing, each. */
const SHIFTED_PER_VALUE = 128;
/** Members of an object cost more than elements: large objects are hash tables. */
const MEMBER = 3;

/**
 * What a patch has cost so far. Few bytes of patch can ask for much: ten thousand insertions at the head of a long list,
 * ten thousand comparisons of the whole object.
 */
export class Effort {
  #left = MAX_EFFORT;

  /** @throws ApiError 413 when the patch has cost too much */
  spend(values: number): void {
    this.#left -= values;
    if (this.#left < 0)
      throw ApiError.requestEntityTooLarge("the patch moves or compares too many values; split it into several");
  }

  spendMembers(count: number): void {
    this.spend(MEMBER * count);
  }

  shift(elements: number): void {
    this.spend(elements / SHIFTED_PER_VALUE);
  }
}
