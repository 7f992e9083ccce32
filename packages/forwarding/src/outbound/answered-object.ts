import type { KubeObject, ObjectKey } from "@virtual-workspaces/apimachinery";
import { decodeObject, type Encoded, encodeObject, type ResourceDefinition } from "@virtual-workspaces/framework";

const LINE_FEED = 10;

/** An object as another server answered it. Read only if somebody asks for more than its bytes. */
export class AnsweredObject implements Encoded {
  readonly bytes: Buffer;
  readonly #cluster: string;
  readonly #definition: ResourceDefinition;
  #read: Encoded | undefined;

  constructor(
    body: Buffer,
    { cluster, definition }: { readonly cluster: string; readonly definition: ResourceDefinition },
  ) {
    this.bytes = body.at(-1) === LINE_FEED ? body.subarray(0, -1) : body;
    this.#cluster = cluster;
    this.#definition = definition;
  }

  get key(): ObjectKey {
    return this.#known.key;
  }

  get resourceVersion(): string {
    return this.#known.resourceVersion;
  }

  get uid(): string {
    return this.#known.uid;
  }

  get labels(): Encoded["labels"] {
    return this.#known.labels;
  }

  get fields(): Encoded["fields"] {
    return this.#known.fields;
  }

  /** A copy of its own for each. @throws SyntaxError when the bytes are no JSON */
  copy(): KubeObject {
    return decodeObject({ bytes: this.bytes } as Encoded);
  }

  get #known(): Encoded {
    this.#read ??= encodeObject(this.copy(), this.#cluster, this.#definition.selectableFields);
    return this.#read;
  }
}
