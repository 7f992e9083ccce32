import type { DiscoveredKind } from "@virtual-workspaces/client";
import type { ServedResource } from "@virtual-workspaces/framework";
import type { SpaceName } from "../client/space-name.ts";
import { AcrossKind, kindText } from "./across-kind.ts";
import type { AcrossOptions } from "./across-spaces.ts";
import { formOf, type ServedSpace } from "./served-space.ts";
import type { ServedSpaces } from "./served-spaces.ts";
import { isAt, type SpacePath } from "./space-path.ts";

/** Selection of Spaces. */
export interface SpaceSelection {
  readonly path: SpacePath;
  /** Namespaces of the Spaces; `undefined` for all. */
  readonly namespaces: ReadonlySet<string> | undefined;
}

/** Several Spaces as one API server, for all callers that may see the same Spaces. */
export class SelectedSpaces implements AsyncDisposable {
  readonly #all: ServedSpaces;
  readonly #selection: SpaceSelection;
  readonly #options: AcrossOptions;
  readonly #listening: Disposable;
  readonly #members = new Map<SpaceName, ServedSpace>();
  readonly #kinds = new Map<string, AcrossKind>();
  #resources: readonly ServedResource[] = [];
  #isStale = true;
  #uniting: Promise<void> | undefined;

  constructor(all: ServedSpaces, selection: SpaceSelection, options: AcrossOptions) {
    this.#all = all;
    this.#selection = selection;
    this.#options = options;
    this.#listening = all.listen((name) => this.#changed(name));
    for (const { name } of all.all) this.#changed(name);
  }

  /** Returns the resources that they serve together; the same value while these are unchanged. */
  async resources(): Promise<readonly ServedResource[]> {
    if (this.#isStale)
      this.#uniting ??= this.#unite().finally(() => {
        this.#uniting = undefined;
      });
    await this.#uniting;
    return this.#resources;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening[Symbol.dispose]();
  }

  /** Objects of a Space appear and disappear at once; kinds are updated by the next request. */
  #changed(name: SpaceName): void {
    const { path, namespaces } = this.#selection;
    const space = this.#all.get(name);
    const isMember =
      space !== undefined &&
      isAt(path, space.space) &&
      (namespaces === undefined || namespaces.has(space.space.metadata.namespace ?? ""));
    if (!isMember && !this.#members.has(name)) return;
    if (isMember) this.#members.set(name, space);
    else this.#members.delete(name);
    for (const kind of this.#kinds.values()) {
      if (isMember) kind.place(space);
      else kind.withdraw(name);
    }
    this.#isStale = true;
  }

  async #unite(): Promise<void> {
    this.#isStale = false;
    const united = unionOf(this.#members.values());
    const fresh = [...united].filter(([key, { kind }]) => this.#kinds.get(key)?.text !== kindText(kind));
    const made = fresh.map(async ([key, { kind, space }]) => {
      const across = new AcrossKind(kind, await space.columns(kind), this.#options);
      return [key, across] as const;
    });
    const gone = [...this.#kinds.keys()].filter((key) => !united.has(key));
    for (const [key, across] of await Promise.all(made)) {
      for (const space of this.#members.values()) across.place(space);
      this.#kinds.set(key, across);
    }
    for (const key of gone) this.#kinds.delete(key);
    if (fresh.length + gone.length > 0) this.#resources = [...this.#kinds.values()].map(({ served }) => served);
  }
}

/** A kind, and a Space that serves it. */
interface ServedKind {
  readonly kind: DiscoveredKind;
  readonly space: ServedSpace;
}

/** Merges the kinds of Spaces. If their definitions differ, the most frequent one applies. */
function unionOf(spaces: Iterable<ServedSpace>): ReadonlyMap<string, ServedKind> {
  const said = new Map<string, Map<string, ServedKind & { count: number }>>();
  for (const space of [...spaces].sort((a, b) => (a.name < b.name ? -1 : 1)))
    for (const [key, kind] of space.kinds ?? []) {
      const forms = said.get(key) ?? new Map<string, ServedKind & { count: number }>();
      said.set(key, forms);
      const form = forms.get(formOf(kind));
      if (form === undefined) forms.set(formOf(kind), { kind, space, count: 1 });
      else form.count += 1;
    }
  return new Map(
    [...said].map(([key, forms]) => [key, [...forms.values()].reduce((a, b) => (b.count > a.count ? b : a))]),
  );
}
