import type { Type } from 'typebox';
import { conditionsSchema, type TypedResource } from '../meta.ts';
import { duration, fields, flag, integer, list, stringMap, text } from '../schema.ts';

/** Pipeline.spec.git (spec, "Pipeline"). */
export const pipelineGitSchema = fields(
  {
    url: text('URL of the GitOps repository: https, http, ssh (also user@host:path) or file.', { maxLength: 1024 }),
    branch: text('Base branch for manifest reads.', { default: 'main', maxLength: 244 }),
    layout: text('`directory`: environments are directories on one branch; `branch`: environments are separate branches.', {
      default: 'directory',
      maxLength: 32,
    }),
    sourceBranch: text('Layout branch only: branch with the source templates; `spec.git.branch` when absent.', { maxLength: 244 }),
    branchPrefix: text('Layout branch only: prefix of rendered environment branches.', { default: 'env/', maxLength: 128 }),
    provider: text(
      '`host-a` (GitHub, alias `github`), `host-b` (GitLab, alias `gitlab`), `local` (built in) or `git` (no pull requests).',
      { maxLength: 256 },
    ),
    secretRef: fields(
      { name: text('Name of the Secret.', { maxLength: 253 }) },
      "Secret in the Pipeline's namespace whose key `token` holds the access token; required for `host-a` and `host-b`.",
    ),
    webhookMode: text('`webhook`: react to events of the host; `polling`: ask at pollInterval.', { default: 'webhook', maxLength: 32 }),
    pollInterval: duration('How often the host is asked in polling mode.', { default: '30s' }),
    apiURL: text("Base URL of the host's API; inferred from the repository URL when absent.", { maxLength: 2048 }),
  },
  'The repository that promotions write to.',
);

/** One custom or built-in step of `steps[]`. */
export const stepEntrySchema = fields(
  {
    uses: text('Built-in step or the name of a custom one.', { maxLength: 253 }),
    config: stringMap('Settings of the step.'),
    webhook: fields(
      {
        url: text('Where the call goes: http or https.', { maxLength: 1024 }),
        timeoutSeconds: integer('Seconds to wait for the answer.', { minimum: 1, maximum: 3600 }),
        secretRef: fields(
          {
            name: text('Name of the Secret.', { maxLength: 253 }),
            namespace: text("Its namespace; the Pipeline's when absent.", { maxLength: 63 }),
          },
          'Secret whose key `Authorization` is sent verbatim.',
        ),
      },
      'The call of a custom step.',
    ),
  },
  'One step of a custom sequence.',
);

const named = (what: string) =>
  fields(
    { name: text(`Name of the ${what}.`, { maxLength: 253 }), namespace: text(`Namespace of the ${what}.`, { maxLength: 63 }) },
    `The ${what} to watch.`,
  );

/** environments[].health (spec, "health block"). */
export const healthSchema = fields(
  {
    type: text(
      '`resource`, `gitopsApp` (alias `argocd`), `gitopsKustomization` (`flux`), `progressiveRollout` (`argoRollouts`) or `canaryAnalysis` (`flagger`); detected when absent.',
      {
        maxLength: 64,
      },
    ),
    resource: fields(
      {
        kind: text('Kind of the resource.', { default: 'Deployment', maxLength: 63 }),
        name: text("Its name; the Pipeline's when absent.", { maxLength: 253 }),
        namespace: text("Its namespace; the environment's name when absent.", { maxLength: 63 }),
        condition: text('The condition that must be True.', { default: 'Available', maxLength: 316 }),
      },
      'For type `resource`.',
    ),
    gitopsApp: named('Application'),
    gitopsKustomization: named('Kustomization'),
    progressiveRollout: named('Rollout'),
    canaryAnalysis: named('Canary'),
    cluster: text('Secret (key `kubeconfig`) of a remote cluster; the local cluster when absent.', { maxLength: 253 }),
    timeout: duration('Time without any healthy observation before the step fails.', { default: '10m' }),
    settle: duration('How long a healthy observation must hold when nothing proves that it is the new version.', { default: '10s' }),
    labelSelector: stringMap("Type resource only: watch all Deployments in the environment's namespace with these labels."),
  },
  'How health is verified.',
);

/** environments[] (spec, "Pipeline"). */
export const environmentSchema = fields(
  {
    name: text('Unique within the Pipeline; gates match on it.', { maxLength: 63 }),
    gitRepo: text('Overrides spec.git.url for this environment.', { maxLength: 1024 }),
    path: text(
      'Directory (layout directory) or branch (layout branch) of the environment; when absent `environments/<name>`, or `<branchPrefix><name>` with layout branch.',
      {
        maxLength: 1024,
      },
    ),
    sourcePath: text('Layout branch only: folder of the overlay on the source branch; `environments/<name>` when absent.', {
      maxLength: 1024,
    }),
    dependsOn: list(
      text('Environment name.', { maxLength: 63 }),
      'Environments that must be Verified first; the previous one in the list when absent.',
      { maxItems: 64 },
    ),
    wave: integer('Environments of one number promote in parallel, after all of the wave before; 0 is sequential.', {
      default: 0,
      minimum: 0,
      maximum: 10000,
    }),
    update: fields(
      {
        strategy: text(
          '`overlay` (alias `kustomize`): set the images in the overlay file; `chart` (alias `helm`): patch a value of a values file; `custom`: only the given steps.',
          // Longer than any word of it, so that a wrong one meets the rule with its message and not the bound.
          { default: 'overlay', maxLength: 1024 },
        ),
        chart: fields(
          {
            file: text("Values file, below the environment's path.", { default: 'values.yaml', maxLength: 1024 }),
            path: text('Dotted path of the value that holds the tag.', { default: 'image.tag', maxLength: 1024 }),
          },
          'For strategy `chart`.',
        ),
      },
      'How manifests are updated.',
    ),
    approval: text('`auto`: push to the target branch; `pr-review`: open a pull request and wait for its merge.', {
      default: 'auto',
      maxLength: 32,
    }),
    pr: flag('With approval auto: open a pull request for the record.'),
    merge: text('`human` or `promoter`: who merges the pull request.', { default: 'human', maxLength: 32 }),
    renderManifests: flag('Commit rendered manifests to the environment branch; needs layout branch.', { default: false }),
    health: healthSchema,
    delivery: fields(
      {
        delegate: text('`none`, `progressiveRollout` (alias `argoRollouts`) or `canaryAnalysis` (alias `flagger`).', {
          default: 'none',
          maxLength: 64,
        }),
      },
      'Progressive delivery.',
    ),
    shard: text("Only an agent started for this shard reconciles the environment's PromotionSteps.", { maxLength: 63 }),
    steps: list(stepEntrySchema, 'Replaces the default sequence entirely.', { maxItems: 32 }),
    bake: fields(
      {
        minutes: integer('Minutes of contiguous health before Verified.', { minimum: 0, maximum: 525600 }),
        policy: text('`reset-on-alarm` or `fail-on-alarm`.', { default: 'reset-on-alarm', maxLength: 32 }),
      },
      'Soak window.',
    ),
    onHealthFailure: text('With fail-on-alarm: `none`, `abort` or `rollback`.', { default: 'none', maxLength: 32 }),
  },
  'One environment.',
);

/** Pipeline.spec. */
export const pipelineSpecSchema = fields(
  {
    git: pipelineGitSchema,
    environments: list(environmentSchema, 'The environments, in order.', { maxItems: 128 }),
    historyLimit: integer('Bundles (and their Graphs) kept per Pipeline.', { default: 20, minimum: 1, maximum: 10000 }),
    supersession: text('`immediate`: a newer Bundle replaces an older one at once.', { default: 'immediate', maxLength: 32 }),
  },
  'The promotion path of one application.',
);

/** Pipeline.status. */
export const pipelineStatusSchema = fields(
  {
    lastSequence: integer('The last Bundle sequence that was handed out.', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    conditions: conditionsSchema,
    observedGeneration: integer('The generation that this status speaks of.'),
  },
  'What the controller found.',
);

export type PipelineGit = Type.Static<typeof pipelineGitSchema>;
export type StepEntry = Type.Static<typeof stepEntrySchema>;
export type Health = Type.Static<typeof healthSchema>;
export type Environment = Type.Static<typeof environmentSchema>;
export type PipelineSpec = Type.Static<typeof pipelineSpecSchema>;
export type PipelineStatus = Type.Static<typeof pipelineStatusSchema>;
/** The promotion path of one application: repository, environments and their order. */
export type Pipeline = TypedResource<'Pipeline', PipelineSpec, PipelineStatus>;
