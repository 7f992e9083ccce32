import { isJsonObject, type JsonObject } from "@virtual-workspaces/apimachinery";
import { type Document, isMap, isSeq, parseDocument, YAMLMap, YAMLSeq } from "yaml";
import { Failure } from "../process/failure.ts";

/** Lists of a kubeconfig, and the field of their entries that holds the value. */
const LISTS = { clusters: "cluster", contexts: "context", users: "user" } as const;
export type ListName = keyof typeof LISTS;

/** A kubeconfig file. Unchanged parts keep their order and comments, but not always their white space. */
export class KubeconfigFile {
  readonly path: string;
  /** Text of the file when read. */
  readonly text: string;
  readonly #document: Document;
  #changed = false;

  /** Parses a file. @throws Failure with the position but no content, when the text is not YAML */
  constructor(path: string, text: string) {
    this.path = path;
    this.text = text;
    // YAML 1.1, as in Kubernetes: `yes` and `0o7` must be quoted.
    this.#document = parseDocument(text, { version: "1.1", prettyErrors: false });
    const [error] = this.#document.errors;
    if (error !== undefined)
      throw new Failure(`cannot parse ${path}: it is not YAML (${error.code}, at character ${error.pos[0]})`);
    if (text.trim() !== "" && !isMap(this.#document.contents))
      throw new Failure(`${path} is not a kubeconfig: it must begin with apiVersion: v1 and kind: Config`);
  }

  get changed(): boolean {
    return this.#changed;
  }

  get content(): JsonObject {
    return (this.#document.toJS() as JsonObject | null) ?? {};
  }

  /** Returns the names of a list's entries. */
  names(list: ListName): readonly string[] {
    const items = this.#document.get(list);
    const names = isSeq(items) ? items.items.map((item) => (isMap(item) ? item.get("name") : undefined)) : [];
    return names.filter((name) => typeof name === "string");
  }

  /** Returns an entry. @returns `undefined` if there is none of that name, or if it is empty */
  entry(list: ListName, name: string): JsonObject | undefined {
    const value = this.#item(list, name)?.toJS(this.#document) as JsonObject | undefined;
    const about = value?.[LISTS[list]];
    return isJsonObject(about) ? about : undefined;
  }

  /** Adds or replaces an entry. */
  setEntry(list: ListName, name: string, value: JsonObject): void {
    this.#changed = true;
    const item = this.#item(list, name);
    if (item !== undefined) item.set(LISTS[list], this.#document.createNode(value));
    else this.#list(list).add(this.#document.createNode({ [LISTS[list]]: value, name }));
  }

  set currentContext(name: string) {
    this.#changed = true;
    this.#document.set("current-context", name);
  }

  toString(): string {
    return this.#document.toString({ lineWidth: 0, indentSeq: false });
  }

  #item(list: ListName, name: string): YAMLMap | undefined {
    const items = this.#document.get(list);
    const found = isSeq(items) ? items.items.find((item) => isMap(item) && item.get("name") === name) : undefined;
    return isMap(found) ? found : undefined;
  }

  #list(list: ListName): YAMLSeq {
    const there = this.#document.get(list);
    if (isSeq(there)) return there;
    const made = new YAMLSeq();
    if (this.#document.contents === null) this.#document.contents = new YAMLMap();
    this.#document.set(list, made);
    return made;
  }
}
