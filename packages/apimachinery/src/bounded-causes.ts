import { Bounded } from "./bounded.ts";
import type { StatusCause } from "./status.ts";

/** Causes one by one: each is worded when it is asked for. */
export type Causes = Generator<StatusCause, void>;

/** Causes of which there may be very many. */
export class BoundedCauses extends Bounded<StatusCause> {
  constructor() {
    super(({ field = "", message = "" }) => field.length + message.length);
  }
}

/** The causes that come, worded one by one, until there are enough. */
export function boundedCauses(causes: Iterable<StatusCause>): StatusCause[] {
  return new BoundedCauses().add(causes).items;
}
