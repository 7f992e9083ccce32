import type { Ask, Breakage } from "./breakage.ts";

/** User other than that of the run. */
const OTHER = "Bearer patcher";
const KNOWN = "Bearer known";

/** Faults of identities. */
export const identityBreakages: readonly Breakage[] = [
  {
    name: "treats all users of a connection as the first one",
    fails: ["T12.1"],
    users: true,
    ask: firstOf(new WeakMap()),
  },
  {
    name: "trusts X-Remote-User of every authenticated client",
    fails: ["T13.1"],
    ask: ({ headers }) => {
      if (headers.authorization === KNOWN && headers["x-remote-user"] !== undefined) headers.authorization = OTHER;
      return undefined;
    },
  },
  {
    name: "trusts X_Remote_User of every authenticated client",
    fails: ["T13.1"],
    ask: ({ headers }) => {
      if (headers.authorization === KNOWN && headers["x_remote_user"] !== undefined) headers.authorization = OTHER;
      return undefined;
    },
  },
  {
    name: "trusts X-Remote-User of unauthenticated clients",
    fails: ["T13.2"],
    ask: ({ headers }) => {
      if (headers["x-remote-user"] !== undefined) headers.authorization ??= OTHER;
      return undefined;
    },
  },
  {
    name: "trusts X_Remote_User of unauthenticated clients",
    fails: ["T13.2"],
    ask: ({ headers }) => {
      if (headers["x_remote_user"] !== undefined) headers.authorization ??= OTHER;
      return undefined;
    },
  },
  {
    name: "ignores Impersonate-User",
    fails: ["T13.3"],
    ask: (ask) => unsaid(ask, "impersonate-user"),
  },
  {
    name: "ignores Impersonate-Group without a user",
    fails: ["T13.4"],
    ask: (ask) => unsaid(ask, "impersonate-group"),
  },
  {
    name: "ignores Impersonate-Uid without a user",
    fails: ["T13.4"],
    ask: (ask) => unsaid(ask, "impersonate-uid"),
  },
  {
    name: "ignores Impersonate-Extra without a user",
    fails: ["T13.4"],
    ask: (ask) => unsaid(ask, "impersonate-extra-conformance"),
  },
  {
    name: "uses the last of two Authorization headers",
    fails: ["T13.5"],
    ask: ({ headers, authorizations }) => {
      const last = authorizations.at(-1);
      if (last !== undefined) headers.authorization = last;
      return undefined;
    },
  },
  {
    name: "uses the last token of an Authorization header",
    fails: ["T13.5"],
    ask: ({ headers }) => {
      const last = headers.authorization?.split(", ").at(-1);
      if (last !== undefined) headers.authorization = last;
      return undefined;
    },
  },
];

function firstOf(first: WeakMap<object, string>): NonNullable<Breakage["ask"]> {
  return ({ headers, connection }) => {
    if (headers.authorization === undefined) return undefined;
    headers.authorization = first.get(connection) ?? headers.authorization;
    first.set(connection, headers.authorization);
    return undefined;
  };
}

function unsaid({ headers }: Ask, name: string): undefined {
  delete headers[name];
}
