/** Position of an item in the queue, with which it can be removed. */
export interface QueuePosition<T> {
  readonly level: Level<T>;
  readonly line: Line<T>;
  readonly node: ListNode<T>;
}

interface Level<T> {
  readonly priority: number;
  readonly lines: Map<string, Line<T>>;
  readonly turns: LinkedList<Line<T>>;
}

interface Line<T> {
  readonly part: string;
  readonly items: LinkedList<T>;
  turn: ListNode<Line<T>>;
}

/**
 * Priority queue that is fair to parts (clusters): the highest priority first, within a priority one item of each part
 * in turn, and within a part in order. Ten thousand items of one cluster delay an item of another by one, not by ten
 * thousand. All operations take constant time, except that they grow with the number of different priorities, which
 * should be small. Removed items leave nothing in memory.
 */
export class FairQueue<T> {
  /** Levels by priority, the highest first. None is empty. */
  readonly #levels: Level<T>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(value: T, { part, priority }: { part: string; priority: number }): QueuePosition<T> {
    const level = this.#level(priority);
    const line = level.lines.get(part) ?? newLine(level, part);
    this.#size++;
    return { level, line, node: line.items.push(value) };
  }

  shift(): T | undefined {
    const [level] = this.#levels;
    const line = level?.turns.first?.value;
    const node = line?.items.first;
    if (level === undefined || line === undefined || node === undefined) return undefined;
    level.turns.remove(line.turn);
    line.turn = level.turns.push(line);
    this.remove({ level, line, node });
    return node.value;
  }

  /** Removes an item. Removing it again has no effect. */
  remove({ level, line, node }: QueuePosition<T>): void {
    line.items.remove(node);
    this.#size--;
    if (line.items.first !== undefined) return;
    level.turns.remove(line.turn);
    level.lines.delete(line.part);
    if (level.lines.size === 0) this.#levels.splice(this.#levels.indexOf(level), 1);
  }

  #level(priority: number): Level<T> {
    const at = this.#levels.findIndex((level) => level.priority <= priority);
    const found = this.#levels[at];
    if (found?.priority === priority) return found;
    const level: Level<T> = { priority, lines: new Map(), turns: new LinkedList() };
    this.#levels.splice(at === -1 ? this.#levels.length : at, 0, level);
    return level;
  }
}

function newLine<T>(level: Level<T>, part: string): Line<T> {
  const line = { part, items: new LinkedList<T>() } as Line<T>;
  line.turn = level.turns.push(line);
  level.lines.set(part, line);
  return line;
}

/** Node of a {@link LinkedList}. */
interface ListNode<T> {
  readonly value: T;
  before: ListNode<T> | undefined;
  after: ListNode<T> | undefined;
}

/** Linked list that removes any item in constant time. An array would move items; a Set scans deleted entries. */
class LinkedList<T> {
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

  /** Removes a node of this list. Removing it again has no effect. */
  remove(node: ListNode<T>): void {
    if (node.before === undefined) this.#first = node.after;
    else node.before.after = node.after;
    if (node.after === undefined) this.#last = node.before;
    else node.after.before = node.before;
  }
}
