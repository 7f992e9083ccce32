import { DOCTOR_TEXTS } from "../../../../src/doctor-texts.ts";
import { apiUrl, workspacePath } from "../../api/base.ts";
import { Copy } from "../../kcp/copy.tsx";
import { pathBelowApi, withClusters } from "../../kcp/view-path.ts";
import { publishedUrls } from "../published.tsx";
import { pathFor, type ServerView } from "../server-views.ts";
import { texts } from "../texts.ts";
import { CheckRun } from "./check-run.tsx";
import { conformanceSteps } from "./conformance-steps.ts";
import { apiSteps, SERVER_STEPS } from "./server-steps.ts";
import { Skipped, type Step, StepFailure, type Subject } from "./step.ts";

interface CheckProps {
  readonly workspace: string;
  readonly cluster: string;
  readonly views: readonly ServerView[];
  readonly isLoading: boolean;
}

/** Views that are the workspace itself, or the server. */
const SELF: ReadonlySet<string> = new Set(["clusters", "shard"]);

/** Checks of the server, of the workspace and of all views: those that a page can do, and the commands for the others. */
export function CheckSections({ workspace, cluster, views, isLoading }: CheckProps) {
  const words = texts.check;
  const { urls, isLoading: isIncomplete } = publishedUrls(workspace);
  const others = views.filter(({ name, mappedPaths }) => !SELF.has(name) && mappedPaths === undefined);
  const subjects = (): readonly Subject[] => [
    { name: texts.run.server, steps: SERVER_STEPS },
    { name: workspace, steps: apiSteps(workspacePath(workspace)) },
    ...others.map((view) => ({ name: view.name, steps: viewSteps(view, cluster) })),
    ...urls.map(({ object, url }) => ({
      name: `${object.metadata.name} (${pathBelowApi(url) ?? url})`,
      steps: urlSteps(url),
    })),
  ];
  const tested = (): readonly Subject[] => [
    { name: workspace, steps: conformanceSteps(workspacePath(workspace)), stops: false },
    ...others.flatMap((view) => {
      const path = pathFor(view, cluster);
      return path === undefined ? [] : [{ name: view.name, steps: conformanceSteps(path), stops: false }];
    }),
  ];
  const server = apiUrl(`clusters/${cluster}`).href;
  const tests = others.flatMap((view) => pathFor(view, cluster) ?? [])[0] ?? `clusters/${cluster}`;
  const suite = `virtual-workspaces conformance ${apiUrl(tests).href} --certificate-authority ca.crt --token-file token`;
  return (
    <>
      <section aria-labelledby="check">
        <h2 id="check">{words.heading}</h2>
        <p class="hint">{words.hint}</p>
        <CheckRun key={workspace} label={words.now} isWaiting={isLoading || isIncomplete} subjects={subjects} />
        <Command name={words.doctor} command={`virtual-workspaces doctor ${server}`} />
      </section>
      <section aria-labelledby="conformance">
        <h2 id="conformance">{texts.conformance.heading}</h2>
        <p class="hint">{texts.conformance.hint}</p>
        <CheckRun key={workspace} label={texts.conformance.now} isWaiting={isLoading} subjects={tested} />
        <Command name={words.conformance} command={suite} />
      </section>
    </>
  );
}

function viewSteps(view: ServerView, cluster: string): readonly Step[] {
  const path = pathFor(view, cluster);
  const ready: Step = {
    title: DOCTOR_TEXTS.ready.title,
    run: () => {
      if (view.isReady === undefined) throw new Skipped(texts.noReadiness);
      if (!view.isReady) throw new StepFailure(texts.notReady, DOCTOR_TEXTS.ready.remedy);
      return texts.ready;
    },
  };
  if (path !== undefined) return [ready, ...apiSteps(path, { isOptional: true })];
  const why = view.path === undefined ? texts.run.noPath : texts.run.parameters(view.path);
  return [ready, { title: DOCTOR_TEXTS.entered.title, run: () => Promise.reject(new Skipped(why)) }];
}

function urlSteps(url: string): readonly Step[] {
  const path = pathBelowApi(url);
  if (path !== undefined) return apiSteps(withClusters(path), { isOptional: true });
  return [{ title: DOCTOR_TEXTS.entered.title, run: () => Promise.reject(new Skipped(texts.run.elsewhere(url))) }];
}

function Command({ name, command }: { readonly name: string; readonly command: string }) {
  const words = texts.check;
  return (
    <div class="commands">
      <span>{name}</span>
      <p class="row">
        <code>{command}</code>
        <Copy label={words.copyText} name={words.copy(name)} text={() => command} />
      </p>
    </div>
  );
}
