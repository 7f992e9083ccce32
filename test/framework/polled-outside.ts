// A source outside of a server: objects by name, with gates at which its calls wait for the test.
import {
  allow,
  defineResource,
  defineVirtualWorkspace,
  type Polled,
  type SourceObject,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";

export const Book = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Book",
  scope: "Cluster",
  spec: {
    type: "object",
    required: ["title"],
    properties: { title: { type: "string", maxLength: 20 }, pages: { type: "integer" } },
  },
  status: { type: "object", properties: { lent: { type: "boolean" } } },
});
export type BookObject = SourceObject<{ spec: { title: string; pages?: number }; status?: { lent?: boolean } }>;

export const BOOKS = "/services/books/clusters/root/apis/test.dev/v1/books";

/** Returns a book as a source has it. */
export const book = (name: string, title = "Dune"): BookObject => ({ metadata: { name }, spec: { title } });

/** Returns a book as a client sends it. */
export const sent = (name: string, title = "Dune", metadata: object = {}): object => ({
  apiVersion: "test.dev/v1",
  kind: "Book",
  metadata: { name, ...metadata },
  spec: { title },
});

/** Serves a polled source, and starts it with the server. */
export const serving = <T extends object>(books: Polled<T>): VirtualWorkspace =>
  defineVirtualWorkspace({
    name: "books",
    path: "/clusters/:cluster",
    authorize: () => allow(),
    ready: books.ready,
    resources: [Book.serve(books as never)],
    setup: (context) => books.start(context),
  });

/** Source whose content is a map. */
export class Outside {
  readonly books = new Map<string, BookObject>();
  /** Calls so far: `read`, `write a`, `remove a`. */
  readonly calls: string[] = [];
  /** Error that the next calls throw. */
  failure: Error | undefined;
  /** Changes what a write stores. */
  store = (object: BookObject): BookObject => object;
  /** Called before a removal. */
  removing = (): void => undefined;
  /** Largest number of calls at a time. */
  most = 0;
  #running = 0;
  readonly #gates = new Map<string, { readonly entered: () => void; readonly open: Promise<void> }>();

  constructor(...books: readonly BookObject[]) {
    for (const one of books) this.books.set(one.metadata.name, one);
  }

  /** Makes the next call of this name wait. `entered` resolves when it waits. */
  gate(call: string): { readonly entered: Promise<void>; open(): void } {
    const { promise: entered, resolve } = Promise.withResolvers<void>();
    const { promise, resolve: open } = Promise.withResolvers<void>();
    this.#gates.set(call, { entered: resolve, open: promise });
    return { entered, open };
  }

  readonly read = (): Promise<BookObject[]> => this.#call("read", () => structuredClone([...this.books.values()]));

  readOne = ({ name }: { readonly name: string }): Promise<BookObject | undefined> =>
    this.#call(`read ${name}`, () => structuredClone(this.books.get(name)));

  /** Stores what people would: no system fields. */
  readonly write = (object: BookObject): Promise<void> =>
    this.#call(`write ${object.metadata.name}`, () => {
      const { name, labels, annotations } = object.metadata;
      const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
      this.books.set(name, this.store({ metadata, spec: object.spec }));
    });

  readonly remove = ({ metadata: { name } }: BookObject): Promise<void> =>
    this.#call(`remove ${name}`, () => {
      this.removing();
      this.books.delete(name);
    });

  /** A read returns the content at its beginning: a slow one is stale at its end. A write is done at its end. */
  async #call<R>(call: string, act: () => R): Promise<R> {
    this.calls.push(call);
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    const isRead = call.startsWith("read");
    try {
      const early = isRead ? act() : undefined;
      const gate = this.#gates.get(call);
      this.#gates.delete(call);
      gate?.entered();
      await (gate?.open ?? Promise.resolve());
      if (this.failure !== undefined) throw this.failure;
      return isRead ? (early as R) : act();
    } finally {
      this.#running -= 1;
    }
  }
}
