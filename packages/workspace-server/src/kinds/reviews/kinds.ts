import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { Resource } from "@virtual-workspaces/framework";
import { accessReviewMessage, tokenRequestMessage, tokenReviewMessage } from "../protobuf/reviews.ts";
import { flag, int64, object, objects, text, textLists, texts, time } from "../schema/texts.ts";

// Kinds that are only created: what they say is asked, their status is the answer.

const user = object("Who it is of.", {
  username: text("The name."),
  uid: text("What tells users of one name apart in time."),
  groups: texts("The groups."),
  extra: textLists("What else authentication knows."),
});

/** What a TokenReview holds. */
export interface TokenReviewContent {
  spec?: { token?: string; audiences?: string[] };
  status?: {
    authenticated?: boolean;
    user?: { username?: string; uid?: string; groups?: string[]; extra?: Record<string, string[]> };
    audiences?: string[];
    error?: string;
  };
}

/** `authentication.k8s.io/v1` TokenReview: whose token is this. */
export const TokenReview: Resource<TokenReviewContent> = new Resource<TokenReviewContent>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenReview",
  scope: "Cluster",
  description: "TokenReview attempts to authenticate a token to a known user.",
  schema: {
    type: "object",
    properties: {
      spec: object("What is asked.", {
        token: text("The token."),
        audiences: texts("For whom it must be; for the server itself if it is not said."),
      }),
      status: object("The answer.", {
        authenticated: flag("Whether it is good."),
        user,
        audiences: texts("For whom of those asked it is."),
        error: text("Why it could not be told."),
      }),
    },
  },
  subresources: { status: false },
  protobuf: tokenReviewMessage,
});

/** What a TokenRequest holds. */
export interface TokenRequestContent {
  spec?: {
    audiences?: string[];
    expirationSeconds?: number;
    boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string };
  };
  status?: { token: string; expirationTimestamp: string | null };
}

/** `authentication.k8s.io/v1` TokenRequest: `/token` of a service account. */
export const TokenRequest: Resource<TokenRequestContent> = new Resource<TokenRequestContent>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  scope: "Namespaced",
  description: "TokenRequest requests a token for a given service account.",
  schema: {
    type: "object",
    properties: {
      spec: object("What is asked.", {
        audiences: texts("For whom it is to be; for the server itself if it is not said."),
        expirationSeconds: { ...int64("How long it is to be good, s."), default: 3600 },
        boundObjectRef: object("What it is to be good as long as: a Secret.", {
          kind: text("Its kind."),
          apiVersion: text("Its API version."),
          name: text("Its name."),
          uid: text("Its uid."),
        }),
      }),
      status: object("The answer.", {
        token: text("The token."),
        expirationTimestamp: time("Until when it is good; it may be earlier than asked."),
      }),
    },
  },
  subresources: { status: false },
  protobuf: tokenRequestMessage,
});

/** What a SubjectAccessReview and a LocalSubjectAccessReview hold. */
export interface SubjectAccessContent {
  spec?: {
    resourceAttributes?: {
      namespace?: string;
      verb?: string;
      group?: string;
      version?: string;
      resource?: string;
      subresource?: string;
      name?: string;
    };
    nonResourceAttributes?: { path?: string; verb?: string };
    user?: string;
    groups?: string[];
    uid?: string;
    extra?: Record<string, string[]>;
  };
  status?: { allowed: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}

const selector = (what: string): JsonSchema =>
  object(`What the request selects by ${what}.`, {
    rawSelector: text("As in a URL."),
    requirements: objects("The same, parsed.", {
      key: text("The key."),
      operator: text("In, NotIn, Exists or DoesNotExist."),
      values: texts("For In and NotIn."),
    }),
  });

const accessSchema: JsonSchema = {
  type: "object",
  properties: {
    spec: object("What is asked.", {
      resourceAttributes: object("Of a request about objects.", {
        namespace: text("Empty for all, and for what is in none."),
        verb: text("get, list, watch, create, update, patch, delete or another; * for all."),
        group: text("The API group; * for all."),
        version: text("The API version; * for all."),
        resource: text("The resource; * for all."),
        subresource: text("Empty for the object itself."),
        name: text("Empty for all."),
        fieldSelector: selector("fields"),
        labelSelector: selector("labels"),
      }),
      nonResourceAttributes: object("Of a request about a path that is no object.", {
        path: text("The path."),
        verb: text("The method in lower case; * for all."),
      }),
      user: text("Who would make it."),
      groups: texts("The groups of that user."),
      uid: text("The uid of that user."),
      extra: textLists("What else is known of that user."),
    }),
    status: object("The answer.", {
      allowed: flag("Whether they may."),
      denied: flag("Whether somebody has said no, so that nobody else need be asked."),
      reason: text("Why."),
      evaluationError: text("What went wrong on the way."),
    }),
  },
};

const access = (kind: string, scope: "Cluster" | "Namespaced", description: string): Resource<SubjectAccessContent> =>
  new Resource<SubjectAccessContent>({
    group: "authorization.k8s.io",
    version: "v1",
    kind,
    scope,
    description,
    schema: accessSchema,
    subresources: { status: false },
    protobuf: accessReviewMessage,
  });

/** `authorization.k8s.io/v1` SubjectAccessReview: may somebody do this. */
export const SubjectAccessReview: Resource<SubjectAccessContent> = access(
  "SubjectAccessReview",
  "Cluster",
  "SubjectAccessReview checks whether or not a user or group can perform an action.",
);

/** `authorization.k8s.io/v1` LocalSubjectAccessReview: the same within one namespace. */
export const LocalSubjectAccessReview: Resource<SubjectAccessContent> = access(
  "LocalSubjectAccessReview",
  "Namespaced",
  "LocalSubjectAccessReview checks whether or not a user or group can perform an action in a given namespace.",
);
