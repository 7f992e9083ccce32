import { header, type ResponseHeaders } from "@virtual-workspaces/transport";

/** How far a clock may be wrong before what another says is believed instead, ms. */
const WRONG = 5_000;

/** The clock by which an agent shows who it is: its machine's, or as a hub says where that is wrong. */
export class HubClock {
  readonly #own: () => Date;
  /** ms */
  #ahead = 0;

  constructor(own: () => Date = () => new Date()) {
    this.#own = own;
  }

  /** What hubs' clocks say, as far as one has said so. */
  get now(): Date {
    return new Date(this.#own().getTime() + this.#ahead);
  }

  /** A hub has answered. @returns whether its clock says something else than was believed */
  adjust(headers: ResponseHeaders): boolean {
    const said = Date.parse(header(headers, "date") ?? "");
    const wrong = said - this.now.getTime();
    if (Number.isNaN(said) || Math.abs(wrong) < WRONG) return false;
    this.#ahead += wrong;
    return true;
  }
}
