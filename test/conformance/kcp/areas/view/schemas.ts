// kcp's view of APIResourceSchemas, for users who have bound exports.
import { create, get, may, remove, resourceSchema, TABLE } from "../../api.ts";
import { area, type User } from "../../step.ts";
import { binds, exports, SCHEMAS } from "../../view.ts";

const VIEW = "/services/apiresourceschema/$(ws)";
const PATH = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";
const NAME = "v1.widgets.example.dev";
const USERS: readonly User[] = ["root", "admin", "alice", "nobody", "stranger"];
const asked = (path: string) => USERS.map((user) => get(path, { user, tell: ["kind"] }));
const readable = get(`${VIEW}${PATH}/${NAME}`, { until: { code: 200 }, tell: ["metadata.name"] });

export const viewSchemas = area("view-schemas", {
  "of what is bound": [
    ...exports(),
    ...asked(`${VIEW}${PATH}/${NAME}`),
    ...binds(),
    readable,
    get(`${VIEW}${PATH}/${NAME}`),
    get(`${VIEW}${PATH}`, { tell: ["kind", "apiVersion", "metadata"] }),
    get(`${VIEW}/clusters/*${PATH}/${NAME}`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/$(ws)${PATH}/${NAME}`, { tell: ["kind"] }),
    get(`${VIEW}/clusters/root${PATH}/${NAME}`),
    get(`${VIEW}/clusters/$(path)${PATH}/${NAME}`),
    get(`/services/apiresourceschema/$(path)${PATH}/${NAME}`),
    get(`/services/apiresourceschema/*${PATH}`),
    get(`/services/apiresourceschema/nothing${PATH}`),
    get(`${VIEW}${PATH}/nothing`),
    get(`${VIEW}${PATH}/${NAME}`, { headers: TABLE, tell: ["kind", "columnDefinitions"] }),
    get(`${VIEW}${PATH}`, { headers: TABLE, tell: ["kind", "columnDefinitions"] }),
    get(`${VIEW}${PATH}/${NAME}`, { headers: { accept: "application/yaml" }, tell: ["kind"] }),
    create(SCHEMAS, resourceSchema("v2.widgets.example.dev"), { tell: ["metadata.name"] }),
    get(`${VIEW}${PATH}/v2.widgets.example.dev`),
    create(`${VIEW}${PATH}`, resourceSchema("v3.widgets.example.dev")),
    remove(`${VIEW}${PATH}/${NAME}`),
    remove(`${VIEW}${PATH}`),
    { send: `PATCH ${VIEW}${PATH}/${NAME}`, headers: { "content-type": "application/merge-patch+json" }, body: {} },
    {
      send: `PATCH ${VIEW}${PATH}/${NAME}`,
      headers: { "content-type": "application/merge-patch+json" },
      body: {},
      user: "root",
    },
    get(`${VIEW}${PATH}/${NAME}/status`),
  ],
  "what is served": [
    ...exports(),
    ...binds(),
    readable,
    get(`${VIEW}/api`),
    get(`${VIEW}/apis`),
    get(`${VIEW}/apis/apis.kcp.io`),
    get(`${VIEW}/apis/apis.kcp.io/v1alpha1`),
    get(`${VIEW}/apis/apis.kcp.io/v1alpha2`),
    get(`${VIEW}/apis/apis.kcp.io/v1alpha1/apiexports`),
    get(`${VIEW}/openapi/v3`, { names: "paths" }),
    get(VIEW, { tell: ["kind"] }),
    get(`${VIEW}/`, { tell: ["kind"] }),
    get("/services/apiresourceschema", { tell: ["kind"] }),
    get("/services/apiresourceschema/", { tell: ["kind"] }),
  ],
  "who may": [
    ...exports(),
    ...binds(),
    readable,
    ...may("alice", { apiGroups: ["apis.kcp.io"], resources: ["apibindings"], verbs: ["get"] }),
    get(`${VIEW}${PATH}/${NAME}`, { user: "alice", until: { code: 200 }, tell: ["kind"] }),
    get(`${VIEW}${PATH}`, { user: "alice", tell: ["kind"] }),
    get(`${VIEW}/apis`, { user: "alice", tell: ["kind"] }),
    remove(`${VIEW}${PATH}/${NAME}`, { user: "alice" }),
    ...asked(`${VIEW}${PATH}`),
    ...asked(`${VIEW}/apis`),
  ],
});
