// A view that answers whatever it is asked with who asks, and with the request as it reached the view.
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
  /** Every header line, in whichever form Node has them. */
  readonly headers: unknown;
}

/** Served at `/services/who`. */
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
