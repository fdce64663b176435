/** From the flags of `create bundle` to a Bundle. Defaults and rules are the server's. */
import { parseImage } from '../api/image-reference.ts';
import type { Bundle, BundleSpec, Image } from '../api/kinds/bundle.ts';
import { API_VERSION } from '../api/meta.ts';
import { bundleName, bundleVersion, labelValue } from '../api/names.ts';
import { PIPELINE_LABEL } from '../core/labels.ts';
import { type Either, ends, misused, value } from './end.ts';

/** The flags, as commander gives them. */
export interface DraftOptions {
  readonly image?: readonly string[];
  readonly type?: string;
  readonly version?: string;
  readonly label?: readonly string[];
  readonly author?: string;
  readonly commit?: string;
  readonly ciRunUrl?: string;
  readonly target?: string;
  readonly skip?: readonly string[];
  readonly configRepo?: string;
  readonly configCommit?: string;
}

const imagesOf = (references: readonly string[]): Either<Image[]> => {
  const images: Image[] = [];
  for (const reference of references) {
    const parsed = parseImage(reference);
    if (!parsed.ok) return ends(misused(`--image: ${parsed.message}.`));
    if (parsed.image.tag === undefined && parsed.image.digest === undefined) {
      return ends(misused(`--image ${reference} has neither tag nor digest; give repository:tag or repository@sha256:<hex>.`));
    }
    images.push(parsed.image);
  }
  return value(images);
};

const labelsOf = (given: readonly string[]): Either<Record<string, string>> => {
  const labels: Record<string, string> = {};
  for (const pair of given) {
    const at = pair.indexOf('=');
    if (at < 1) return ends(misused(`--label ${pair} is no label; give key=value.`));
    labels[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return value(labels);
};

const some = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));

const group = <K extends string, T extends object>(key: K, fields: T): Partial<Record<K, T>> =>
  Object.keys(fields).length === 0 ? {} : ({ [key]: fields } as Record<K, T>);

const specOf = (pipeline: string, images: readonly Image[], options: DraftOptions): BundleSpec => {
  const skip = (options.skip ?? []).flatMap((names) => names.split(',')).map((name) => name.trim());
  const config = some({ gitRepo: options.configRepo, commitSHA: options.configCommit });
  const inferred = Object.keys(config).length === 0 ? 'image' : images.length === 0 ? 'config' : 'mixed';
  return {
    type: options.type ?? inferred,
    pipeline,
    ...(images.length === 0 ? {} : { images: [...images] }),
    ...group('configRef', config),
    ...group('provenance', some({ commitSHA: options.commit, ciRunURL: options.ciRunUrl, author: options.author })),
    ...group('intent', {
      ...(options.target === undefined ? {} : { targetEnvironment: options.target }),
      ...(skip.length === 0 ? {} : { skipEnvironments: skip }),
    }),
    ...(options.version === undefined ? {} : { version: options.version }),
  };
};

/** The Bundle for those flags, with its deterministic name and its label. */
export const draftBundle = (pipeline: string, namespace: string, options: DraftOptions): Either<Bundle> => {
  const images = imagesOf(options.image ?? []);
  if (!images.ok) return images;
  const labels = labelsOf(options.label ?? []);
  if (!labels.ok) return labels;
  const spec = specOf(pipeline, images.value, options);
  if (images.value.length === 0 && spec.configRef === undefined) {
    return ends(misused('Nothing to deploy: give --image repository:tag, or --config-repo and --config-commit.'));
  }
  const metadata = {
    name: bundleName(pipeline, bundleVersion(spec)).name,
    namespace,
    labels: { ...labels.value, [PIPELINE_LABEL]: labelValue(pipeline) },
  };
  return value({ apiVersion: API_VERSION, kind: 'Bundle', metadata, spec });
};
