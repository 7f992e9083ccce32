import { isApiError } from "@virtual-workspaces/apimachinery";

/** Whether a source says that it may not be read, or that there is nothing to read: no failure, which would pass. */
export class Refusal {
  #stands = false;

  get stands(): boolean {
    return this.#stands;
  }

  /** @returns what readers are to be told, when that is news */
  note(error: unknown): string | undefined {
    if (!isApiError(error) || (error.code !== 403 && error.code !== 404)) return undefined;
    const news = !this.#stands;
    this.#stands = true;
    return news
      ? `too old resource version: the source of this view cannot be read any more: ${error.message}`
      : undefined;
  }

  lift(): void {
    this.#stands = false;
  }
}
