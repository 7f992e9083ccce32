/** What stands in a {@link LinkedList}. */
export interface ListNode<T> {
  readonly value: T;
  before: ListNode<T> | undefined;
  after: ListNode<T> | undefined;
}

/** A line that can be left from anywhere, at constant cost: an array would be moved, a Set scans what has been deleted. */
export class LinkedList<T> {
  #first: ListNode<T> | undefined;
  #last: ListNode<T> | undefined;

  get first(): ListNode<T> | undefined {
    return this.#first;
  }

  push(value: T): ListNode<T> {
    const node: ListNode<T> = { value, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = node;
    else this.#last.after = node;
    this.#last = node;
    return node;
  }

  /** Takes out a node of this list, once. */
  remove(node: ListNode<T>): void {
    if (node.before === undefined) this.#first = node.after;
    else node.before.after = node.after;
    if (node.after === undefined) this.#last = node.before;
    else node.after.before = node.before;
  }
}
