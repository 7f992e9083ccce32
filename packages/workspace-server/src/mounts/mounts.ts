import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import { type RawRequest, Targets } from "@virtual-workspaces/framework";
import { OpenMount } from "./open-mount.ts";
import { type MountPlace, placeOf, workspaceAt } from "./place.ts";
import { MountTargets, type MountTargetsOptions } from "./targets.ts";
import { usableMount, usableURL } from "./usable.ts";

type Request = RawRequest<Readonly<Record<string, string>>>;

/**
 * Passes on what is asked of mounted workspaces. What a mount leads to is kept, with its connections, until its Workspace has another
 * URL, is not Ready any more, or is gone: then what is open through it ends.
 */
export class Mounts implements AsyncDisposable {
  readonly #options: MountTargetsOptions;
  readonly #targets: MountTargets;
  readonly #open = new Targets<OpenMount>({ isActive: ({ isActive }) => isActive });
  readonly #following: Disposable;

  constructor(options: MountTargetsOptions) {
    this.#options = options;
    this.#targets = new MountTargets(options);
    this.#following = options.installation.eachShard(({ state }) =>
      state.workspaces.onKey(({ key }) => this.#look(key)),
    );
  }

  /** @throws ApiError 404, 503, and what a relay throws */
  readonly handle = async (req: IncomingMessage, res: ServerResponse, request: Request): Promise<void> => {
    const mount = this.#mountOf(request);
    await mount.pass(request, (passed) => mount.target.relay.handle(req, res, passed));
  };

  /** @throws as {@link handle} */
  readonly upgrade = async (
    req: IncomingMessage,
    socket: Duplex,
    request: Request & { readonly head: Buffer },
  ): Promise<void> => {
    const mount = this.#mountOf(request);
    await mount.pass(request, (passed) => mount.target.relay.upgrade(req, socket, passed));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#open[Symbol.asyncDispose]();
  }

  #mountOf({ params }: Request): OpenMount {
    const place = placeOf(params);
    if (place === undefined) throw new Error("a request that is for no mounted workspace");
    const url = usableMount(this.#options.installation, place);
    return this.#open.of(keyOf(place), url, () => new OpenMount(this.#targetOf(url, place)));
  }

  #targetOf(url: string, { name }: MountPlace): OpenMount["target"] {
    try {
      return this.#targets.at(url);
    } catch (error) {
      throw ApiError.serviceUnavailable(
        `nobody can be asked on whom the workspace ${name} is mounted: ${(error as Error).message}`,
      );
    }
  }

  #look(key: ObjectKey): void {
    const workspace = workspaceAt(this.#options.installation, key);
    this.#open.delete(keyOf(key), workspace && usableURL(workspace));
  }
}

function keyOf({ cluster, name }: Pick<MountPlace, "cluster" | "name">): string {
  return `${cluster}|${name}`;
}
