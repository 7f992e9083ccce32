import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@virtual-workspaces/client";
import type { Identity } from "@virtual-workspaces/framework";
import { stringify } from "yaml";
import type { TestUserOptions } from "./options.ts";

/** Address of a test server for clients. */
export interface TestEndpoint {
  /** URL of the cluster, or of the workspace `root`. */
  readonly url: string;
  /** Certificate authority of the server, PEM; `undefined` over plain HTTP. */
  readonly ca: string | undefined;
  /** Returns the folder for kubeconfig files, which only its owner can read. It is created on first use. */
  readonly folder: () => string;
}

/** User of a test server: credentials and clients. */
export class TestUser {
  readonly name: string;
  /** Bearer token, random and known to this server alone. */
  readonly token: string = randomBytes(24).toString("base64url");
  readonly #groups: readonly string[];
  readonly #all: ReadonlyMap<string, TestUser>;
  readonly #endpoint: () => TestEndpoint;
  #client: Client | undefined;
  readonly #others: Client[] = [];
  #file: string | undefined;

  /** @internal Created by `startTestServer`. */
  constructor(
    [name, { groups = [] }]: readonly [string, TestUserOptions],
    server: { readonly users: ReadonlyMap<string, TestUser>; readonly endpoint: () => TestEndpoint },
  ) {
    this.name = name;
    this.#groups = groups;
    this.#all = server.users;
    this.#endpoint = server.endpoint;
  }

  /** Name and groups. */
  get identity(): Pick<Identity, "name" | "groups"> {
    return { name: this.name, groups: this.#groups };
  }

  /**
   * Client of `@virtual-workspaces/client` for this user. The server closes it. Like other clients it retries 429 and 503;
   * create one from {@link kubeconfig} with `retries: false` to see them.
   */
  get client(): Client {
    this.#client ??= this.#connect("");
    return this.#client;
  }

  /**
   * Returns a client of this user for a view of the server. The server closes it.
   *
   * @param path path of the view, such as `/services/quotes/clusters/root`
   */
  clientAt(path: string): Client {
    const client = this.#connect(path);
    this.#others.push(client);
    return client;
  }

  #connect(path: string): Client {
    const { url, ca } = this.#endpoint();
    const headers = Object.freeze(["Authorization", `Bearer ${this.token}`]);
    const credential = Object.freeze({ headers });
    const upstream = {
      url: path === "" ? url : `${new URL(url).origin}${path}`,
      credentials: { get: () => credential },
      ...(ca !== undefined && { tls: { ca } }),
    };
    return new Client({ upstream, fieldManager: "test" });
  }

  /**
   * Text of a kubeconfig with everything embedded. Its current context is this user's; the contexts of the others have their
   * names. Security: it contains the tokens of all users.
   */
  get kubeconfig(): string {
    const { url, ca } = this.#endpoint();
    const cluster = "test";
    const users = [...this.#all.values()];
    return stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": this.name,
      clusters: [
        {
          name: cluster,
          cluster: {
            server: url,
            // client-node accepts plain HTTP only with this.
            ...(ca === undefined
              ? { "insecure-skip-tls-verify": true }
              : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
          },
        },
      ],
      contexts: users.map(({ name }) => ({ name, context: { cluster, user: name } })),
      users: users.map(({ name, token }) => ({ name, user: { token } })),
    });
  }

  /** Path of a file with {@link kubeconfig}, for `KUBECONFIG`. Only the owner can read it, and the server removes it. */
  get kubeconfigFile(): string {
    if (this.#file === undefined) {
      this.#file = join(this.#endpoint().folder(), `${encodeURIComponent(this.name)}.kubeconfig`);
      writeFileSync(this.#file, this.kubeconfig, { mode: 0o600 });
    }
    return this.#file;
  }

  /** @internal Closes the clients. */
  async [Symbol.asyncDispose](): Promise<void> {
    const own = this.#client === undefined ? [] : [this.#client];
    this.#client = undefined;
    for (const client of [...own, ...this.#others.splice(0)]) await client[Symbol.asyncDispose]();
  }
}
