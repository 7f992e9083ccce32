import { isApiError, isJsonObject } from "@virtual-workspaces/apimachinery";
import { DOCTOR_TEXTS } from "@virtual-workspaces/console/doctor";
import { ANONYMOUS } from "@virtual-workspaces/framework/authn";
import { objectIn } from "../process/json-object.ts";
import type { ExaminedServer } from "./examined-server.ts";
import { Skipped, type Step, StepFailure } from "./steps.ts";
import { checkSameUser, isView, notForwarded } from "./view-identity.ts";

const SCOPES = "authentication.kcp.io/scopes";
const ROOT = "/clusters/root";

/** Checks that the server authenticates the user, and that the process of a view sees the same user. */
export const known: Step<ExaminedServer> = {
  title: DOCTOR_TEXTS.known.title,
  run: async (patient) => {
    const here = await reviewed(patient, patient.path);
    // Users without access to a workspace get the answer in root.
    const inRoot =
      patient.path !== ROOT && (!here.isUser || isView(patient)) ? await reviewed(patient, ROOT) : undefined;
    patient.hasWorkspaces = inRoot?.isUser === true;
    const answer = here.isUser ? here : inRoot?.isUser ? inRoot : here;
    if (here.code === 401 && isView(patient) && inRoot?.isUser) throw notForwarded(inRoot.name);
    if (answer.code === 401 || inRoot?.code === 401)
      throw new StepFailure("the server rejects the credentials: 401", await stranger(patient));
    if (!answer.isUser) throw new Skipped(`the server does not name the user: ${answer.message}`);
    if (here.isUser && inRoot?.isUser) checkSameUser(here.name, inRoot.name);
    if (answer.name === ANONYMOUS && (await patient.credentials()) !== undefined)
      throw new StepFailure(`the server ignores the credentials: it sees ${ANONYMOUS}`, await stranger(patient));
    patient.user = answer.name;
    return answer.shown;
  },
};

type Reviewed =
  | { readonly isUser: true; readonly code: 201; readonly name: string; readonly shown: string }
  | { readonly isUser: false; readonly code: number; readonly message: string };

async function reviewed(patient: ExaminedServer, path: string): Promise<Reviewed> {
  try {
    return { isUser: true, code: 201, ...userIn(await patient.review(path)) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { isUser: false, code: error.code, message: error.message };
  }
}

function userIn(text: string): { readonly name: string; readonly shown: string } {
  const { status } = objectIn(text) ?? {};
  const user = isJsonObject(status) && isJsonObject(status["userInfo"]) ? status["userInfo"] : {};
  const { username = "", groups, extra } = user;
  const scopes = isJsonObject(extra) && Array.isArray(extra[SCOPES]) ? ` for ${extra[SCOPES].join(", ")} only` : "";
  const name = String(username);
  return {
    name,
    shown: `${DOCTOR_TEXTS.known.user(name, Array.isArray(groups) ? groups.map(String) : undefined)}${scopes}`,
  };
}

async function stranger(patient: ExaminedServer): Promise<string> {
  const token = await patient.token();
  const ended = token === undefined ? undefined : endOf(token);
  if (ended !== undefined && ended <= Date.now())
    return `the token expired at ${new Date(ended).toISOString()}: log in again to get a new one`;
  if ((await patient.credentials()) === "certificate")
    return "the authority of the client certificate must be in --client-ca-file of this server; select another user of the kubeconfig with --user";
  return "log in again, or select another user of the kubeconfig with --user; tokens and certificates of one server are not valid at another";
}

/** Returns when a JSON Web Token expires, ms since the epoch. */
function endOf(token: string): number | undefined {
  const payload = objectIn(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  return typeof payload?.["exp"] === "number" ? payload["exp"] * 1000 : undefined;
}
