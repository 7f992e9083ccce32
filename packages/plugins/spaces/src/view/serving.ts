import { ApiError } from "@virtual-workspaces/apimachinery";
import { type AuthorizeRequest, type Decision, Targets, type WorkspaceRequest } from "@virtual-workspaces/framework";
import { Space } from "../kinds/space.ts";
import type { AcrossOptions } from "./across-spaces.ts";
import type { SpacesViewOptions } from "./options.ts";
import { isOne, type Place, pathTo } from "./place.ts";
import { SelectedSpaces } from "./selected-spaces.ts";
import type { ServedSpace } from "./served-space.ts";
import { ServedSpaces } from "./served-spaces.ts";
import { SpacesAccess } from "./spaces-access.ts";

const EVERY = 10_000;
const PATIENCE = 10_000;

/** What the view of Spaces answers from, from its start to its end. */
export class Serving implements AsyncDisposable {
  readonly #options: SpacesViewOptions;
  readonly #access: SpacesAccess;
  readonly #across: AcrossOptions;
  /** One for all who see the same of several Spaces. What nobody asks for is given up after some time. */
  readonly #selected: Targets<SelectedSpaces> = new Targets({ isActive: () => false });
  readonly #begun = Promise.withResolvers<void>();
  #served: ServedSpaces | undefined;
  #closed = false;

  constructor(options: SpacesViewOptions) {
    const { identity = "secret", partial, patience = PATIENCE, history, reviews, onError } = options;
    this.#options = options;
    this.#across = {
      identity: identity === "secret" ? "none" : "impersonate",
      ...{ history, patience },
      ...(partial && { partial }),
      onError: (space, error) => onError({ space, error }),
    };
    this.#access = new SpacesAccess(reviews, options);
  }

  /** Begins, once there are Spaces. */
  start(): void {
    const begin = async (): Promise<void> => {
      const spaces = await this.#options.spaces;
      await spaces.synced;
      if (this.#closed) return;
      this.#served = new ServedSpaces(spaces, this.#across, this.#options.discoverEvery ?? EVERY);
      this.#begun.resolve();
    };
    begin().catch((error: unknown) => {
      if (!this.#closed) this.#options.onError({ error });
      this.#begun.reject(error);
    });
    this.#begun.promise.catch(() => undefined); // it is said by `ready`
  }

  /** Resolves when Spaces have been read. @throws what keeps them from it; the signal's reason */
  readonly ready = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const ended = Promise.withResolvers<never>();
    const end = (): void => ended.reject(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([this.#begun.promise, ended.promise]);
    } finally {
      signal.removeEventListener("abort", end);
    }
    await this.#all.known(this.#across.patience ?? PATIENCE, signal);
  };

  /** The Space that is meant. @throws ApiError 404 where there is none, 409 where there are several of that name at one provider */
  one(place: Place): ServedSpace {
    const [found, ...others] = this.#all.at(place);
    if (found === undefined) throw ApiError.notFound({ group: Space.group, resource: Space.plural }, place.space);
    if (others.length === 0) return found;
    const names = [found, ...others].map(({ name }) => name).join(", ");
    const message = `there are several of that name: ${names}: rename all but one, or read them together by /services/spaces/*/${place.space}`;
    throw ApiError.conflict({ group: Space.group, resource: Space.plural }, place.space, message);
  }

  /** Whether somebody may do something in the Spaces that are meant. */
  async may(request: AuthorizeRequest<Place>): Promise<Decision> {
    if (!isOne(request.params)) return this.#access.several(request, await this.#seen(request));
    const [one, ...others] = this.#all.at(request.params);
    // That there is none is only told to those who may know.
    return one === undefined || others.length > 0 ? this.#access.all(request) : this.#access.one(one.space, request);
  }

  /** What somebody sees of several Spaces. */
  async several(request: WorkspaceRequest<Place>): Promise<SelectedSpaces> {
    this.#all.refresh();
    const { provider, space } = request.params;
    const namespaces = await this.#seen(request);
    const key = JSON.stringify([provider, space, namespaces && [...namespaces]]);
    const selecting = { place: { provider, space }, namespaces };
    return this.#selected.of(key, "", () => new SelectedSpaces(this.#all, selecting, this.#across));
  }

  /** Where one Space is that is meant, for those who have to name one. */
  example(place: Place): string {
    const [first] = this.#all.at(place);
    return first === undefined ? "/services/spaces/<provider>/<space>" : pathTo(first.space);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#selected[Symbol.asyncDispose]();
    await this.#served?.[Symbol.asyncDispose]();
    await this.#access[Symbol.asyncDispose]();
  }

  get #all(): ServedSpaces {
    if (this.#served === undefined) throw ApiError.serviceUnavailable("it is not known yet which Spaces there are", 1);
    return this.#served;
  }

  #seen({ user, signal, params }: WorkspaceRequest<Place>): Promise<ReadonlySet<string> | undefined> {
    const namespaces = (): Set<string> =>
      new Set(this.#all.at(params).map(({ space }) => space.metadata.namespace ?? ""));
    return this.#access.seen({ user, signal }, namespaces);
  }
}
