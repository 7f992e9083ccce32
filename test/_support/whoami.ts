// View that answers every request with the caller, and with the request as the view received it.
import { type Authorizer, allow, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";

export interface Whoami {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
  readonly tail: string;
  readonly search: string;
  readonly prefix: string;
  readonly params: Readonly<Record<string, string>>;
  /** All header lines, in Node's form. */
  readonly headers: unknown;
}

/** Returns the view, which is served at `/services/who`. */
export function whoami(authorize: Authorizer<unknown> = () => allow()): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "who",
    path: "/",
    authorize,
    handle: (req, res, { user, tail, search, prefix, params }) => {
      const { headers, headersDistinct, rawHeaders } = req;
      const answer: Whoami = {
        name: user.name,
        uid: user.uid,
        groups: user.groups,
        extra: user.extra,
        tail,
        search,
        prefix,
        params: params as Record<string, string>,
        headers: [headers, headersDistinct, rawHeaders],
      };
      res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
    },
  });
}
