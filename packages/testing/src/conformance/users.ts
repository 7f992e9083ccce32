import type { Answer } from "../http/answer.ts";
import { type CallOptions, HttpClient, type HttpClientOptions } from "../http/client.ts";
import { anonymous, type Credentials, identifies } from "../http/credentials.ts";

export interface UsersOptions extends Omit<HttpClientOptions, "maxSockets"> {
  readonly others: readonly Credentials[];
}

/** How somebody asks. */
export type Caller = (path: string, options: CallOptions) => Promise<Answer>;

/** Somebody whom the run has credentials of. */
export interface KnownUser {
  /** On connections that nobody else uses. */
  readonly alone: Caller;
  /** On connections that all use, unless a client certificate says whose they are. */
  readonly among: Caller;
}

/** Connections that all users share: few, so that each is used by several. */
export const SHARED = 8;

/** Everybody whom a run has credentials of, its own user first. */
export class Users implements Disposable {
  readonly all: readonly KnownUser[];
  /** The token of the run, to be sent in ways in which it must not count. */
  readonly token: string | undefined;
  readonly #clients: HttpClient[] = [];

  constructor({ credentials, others, ...connecting }: UsersOptions) {
    const open = (own: Credentials): HttpClient => {
      const client = new HttpClient({ ...connecting, credentials: own, maxSockets: SHARED });
      this.#clients.push(client);
      return client;
    };
    const server = anonymous(credentials);
    const shared = open(server);
    this.token = credentials.token;
    this.all = [credentials, ...others].filter(identifies).map((own): KnownUser => {
      const client = open({ ...server, ...own });
      const alone: Caller = (path, options) => client.call(path, options);
      const { token } = own;
      if (token === undefined) return { alone, among: alone };
      return { alone, among: (path, options) => shared.call(path, { ...options, token }) };
    });
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients) client[Symbol.dispose]();
  }
}
