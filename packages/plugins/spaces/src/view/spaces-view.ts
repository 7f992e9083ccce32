import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  type AuthorizeRequest,
  type Authorizer,
  defineVirtualWorkspace,
  type RawRequest,
  requestInfo,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import type { SpacesViewOptions } from "./options.ts";
import { isOne, type Place } from "./place.ts";
import { Serving } from "./serving.ts";
import { EVERY } from "./spaces-access.ts";

/**
 * Spaces, by whom provides them and by name: `/services/spaces/<provider>/<space>/…` is a Space itself, whole, as it answers, with terminals and watches;
 * with `*` in the place of either all of them are one API server, with objects of every kind that any of them serves: read, watched and
 * changed together, by versions of their own. `-` stands for the provider of Spaces that have none.
 *
 * Who may use a Space, and by which verbs, a SubjectAccessReview in the management cluster says of `spaces/proxy`; of several Spaces whoever may
 * list it in a namespace sees those of that namespace. Each is asked by the credential of its Secret: whoever may `get` there reads what that may read, Secrets
 * included, unless `identity` is `impersonate`.
 */
export function spacesView(options: SpacesViewOptions): VirtualWorkspace {
  const serving = new Serving(options);
  const authorize: Authorizer<Place> = Object.assign((request: AuthorizeRequest<Place>) => serving.may(request), {
    watchesEvery: EVERY,
  });
  return defineVirtualWorkspace({
    name: "spaces",
    path: "/:provider/:space",
    authorize,
    ready: serving.ready,
    handles: (request) => isOne(request.params) || isInOne(request),
    handle: (req, res, request) => passedBy(serving, request, req.method).handle(req, res, request),
    upgrade: (req, socket, request) => passedBy(serving, request, req.method).upgrade(req, socket, request),
    resources: async (request) => (await serving.several(request)).resources(),
    setup: () => {
      serving.start();
      return serving;
    },
  });
}

const REVIEWS: readonly string[] = ["authentication.k8s.io", "authorization.k8s.io"];
const IN_ONE: readonly string[] = ["create", "deletecollection"];

/** What is done in one Space alone: in which, has to be said. Who somebody is, and what they may do, is asked of the view itself. */
function isInOne({ isResource, group, verb, subresource }: AuthorizeRequest<Place>): boolean {
  if (!isResource || REVIEWS.includes(group)) return false;
  return IN_ONE.includes(verb) || (subresource !== "" && subresource !== "status");
}

/** @throws ApiError 404, 409, 503 as a Space cannot be found, or used; 405 where none was named */
function passedBy(serving: Serving, { params, tail, search }: RawRequest<Place>, method = "GET") {
  if (isOne(params)) return serving.one(params).passed;
  const { group, resource, verb } = requestInfo({ method, tail, query: new URLSearchParams(search) });
  const { status } = ApiError.methodNotAllowed({ group, resource }, verb);
  const message = `${status.message} of several spaces: name the one that is meant, as in ${serving.example(params)}`;
  throw new ApiError({ ...status, message });
}
