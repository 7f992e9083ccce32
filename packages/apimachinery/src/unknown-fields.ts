import { Bounded } from "./bounded.ts";
import { compareUtf8 } from "./json/order.ts";

/** The paths of fields that are unknown, as field validation names them: of very many the first. */
export class UnknownFields extends Bounded<string> {
  constructor() {
    super((path) => path.length);
  }

  sorted(): string[] {
    return this.items.sort(compareUtf8);
  }
}
