import type { Advertised } from "../../resource/served.ts";
import { VERSION_INFO } from "./meta-answer-schemas.ts";
import { metaName } from "./meta-object-schemas.ts";
import { contentOf, operationNames, type PathItem, type Paths } from "./operation.ts";
import { rootOf } from "./resource-paths.ts";

/** Returns the paths of discovery and version, by the name of their document: `api`, `apis`, `apis/<group>`, `version`. */
export function rootPaths(resources: readonly Advertised[]): Record<string, () => Paths> {
  const groups = new Set(resources.map(({ definition }) => definition.group));
  groups.delete("");
  return {
    api: corePath,
    apis: groupsPath,
    ...Object.fromEntries(Array.from(groups, (group) => [`apis/${group}`, () => groupPath(group)])),
    version: versionPath,
  };
}

/** Returns the discovery path of a group version. */
export function groupVersionPath(group: string, version: string): Paths {
  const { infix, tag } = operationNames(group, version);
  return {
    [`${rootOf(group, version)}/`]: read({
      id: `get${infix}APIResources`,
      tag,
      description: "get available resources",
      component: metaName("APIResourceList"),
    }),
  };
}

function corePath(): Paths {
  const { infix, tag } = operationNames("");
  return {
    "/api/": read({
      id: `get${infix}APIVersions`,
      tag,
      description: "get available API versions",
      component: metaName("APIVersions"),
    }),
  };
}

function groupsPath(): Paths {
  return {
    "/apis/": read({
      id: "getAPIVersions",
      tag: "apis",
      description: "get available API versions",
      component: metaName("APIGroupList"),
    }),
  };
}

function versionPath(): Paths {
  return {
    "/version/": read({
      id: "getCodeVersion",
      tag: "version",
      description: "get the version of the server",
      component: VERSION_INFO,
    }),
  };
}

function groupPath(group: string): Paths {
  const { infix, tag } = operationNames(group);
  return {
    [`/apis/${group}/`]: read({
      id: `get${infix}APIGroup`,
      tag,
      description: "get information of a group",
      component: metaName("APIGroup"),
    }),
  };
}

interface Reading {
  readonly id: string;
  readonly tag: string;
  readonly description: string;
  readonly component: string;
}

function read({ id, tag, description, component }: Reading): PathItem {
  return {
    get: {
      tags: [tag],
      description,
      operationId: id,
      responses: {
        200: { description: "OK", content: contentOf(component, ["application/json"]) },
        401: { description: "Unauthorized" },
      },
    },
  };
}
