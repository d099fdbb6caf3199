"""Word lists of the scope gate, in the languages open-access medicine is published in (en, es, pt, fr, de).

Plain words match whole words; a trailing * matches any ending. Lists are short on purpose: each word must be
hard to read in another sense inside a title, a journal name, a subject or a keyword.
"""

from __future__ import annotations

PEOPLE = """
patient* paciente* patienten patientin participants volunteers woman women man men boy boys girl girls
child children infant infants neonat* newborn* adolescent* adult adults elderly mother* pregnan*
schoolchild* student* people persons individuals male female cohort* year-old years-old monther
outpatient* inpatient* crianças criança mulher* mujer* hombre* homem niñ* adolescente* adulto* idos*
gestante* embaraz* recém-nascid* enfant* femme* homme* schwangere* kinder respondents twin* caregiver*
physician* clinician* doctors nurses
"""

CARE = """
clinical clinic clinics clinico clínic* clinique* hospital* surg* cirurg* cirug* therap* terap*
treatment* tratamiento* tratamento* traitement* diagnos* prognos* disease* disorder* syndrome* patholog*
cancer* carcinoma* tumor* tumour* leukemia leukaemia lymphoma* myeloma* melanoma* sarcoma* glioblastoma*
adenoma* neoplas* oncolog* metasta* infection* infectious sepsis tubercul* hiv malaria* dengue covid*
sars-cov-2 hepatitis pneumon* diabet* obes* hypertens* stroke cardi* coronar* aort* vascular* arter*
thromb* hematolog* haematolog* anemia anaemia transplant* renal kidney* nephro* hepat* liver* gastro*
colorectal rectal intestin* pulmon* lung* asthma* respirat* neurolog* neurosurg* brain epilep* dementia
alzheimer* parkinson* sclerosis autism depress* anxiety psychiatr* schizophren* suicid* mental dermat*
skin wound* burn burns orthop* fractur* arthr* rheumat* osteo* muscul* dent* tooth teeth oral maxillo*
periodon* ophthalm* retin* otolaryng* hearing pediatr* paediatr* obstet* gynec* gynaec* uterin* matern*
prenatal postpartum urolog* prostat* radiolog* radiother* radiograph* mri tomography ultrasound* anesth*
anaesth* emergenc* intensive* critical* icu trauma* injur* mortality morbidity epidemiolog* prevalence
incidence comorbid* vaccin* immuniz* immunis* allerg* immunother* chemotherap* pharmac* drug* dose*
medic* medicine médec* medizin* nurs* enferm* health* saúde salud santé gesundheit* trial* randomized
randomised placebo* case-report symptom* chronic acute pain fever cough vertigo lesion* cyst* fistula*
hernia* rehabilit* palliat* counsel* counseling counselling nutrition* undernutrition malnutrition
stunting goiter goitre diarrhea diarrhoea glyc* insulin* allergy biops* stent* catheter* dialys*
screening questionnaire* quality-of-life doença* enfermedad* maladie* mortalidade mortalidad physician*
doctor doctors primary-care malocclusion spirometr*
"""

ANIMAL = """
rat rats mouse mice murine rodent* rabbit rabbits dog dogs canine cat cats feline pig pigs porcine swine
piglet* sheep ovine goat* cattle bovine cow cows calf calves horse* equine chicken* poultry broiler*
avian bird birds fish fishes zebrafish drosophila elegans xenopus hamster* gerbil* primate* macaque*
monkey* monkeys marmoset* ferret* mosquito* aedes anopheles culex insect* larva* larvae tick ticks panda*
bear bears seal seals bat bats whale* veterinar* livestock animal animals wildlife ratos camundongos
ratas ratones perros cães gatos bovinos aves sdt wistar sprague-dawley c57bl* xenograft* knockout
transgenic backyard host-range parasitoid* nematode*
"""

BENCH = """
in-vitro crystal crystals crystallograph* cell-line* cell-lines hela hek293* ht-29 mcf-7 hepg2 docking
molecular-docking plasmid* bacteriophage* phage* escherichia yeast saccharomyces recombinant crispr*
lysosom* autophag* chromatin transposon* transposable retrotransposon* g-quadruplex* rna-seq pcr qrt-pcr
assay essential-oil* extract extracts antifungal antibacterial antimicrobial nanoparticle* biosynthesis
enzyme* kinase* reporter signaling signalling connectome quadruplex* evolution* phylogen*
genome-sequence* biosensor* locked-nucleic
"""

OTHER_FIELDS = """
plant plants botan* crop crops agricult* agronom* agro* farm farms farming farmer* wheat rice maize
barley sorghum millet tomato potato grape* grapevine* fruit* cultivar* landrace* germplasm paddy
seedling* rootstock* fertiliz* fertilis* soil* forest* tree trees deadwood ectomycorrhiz* mycorrhiz*
fungal-communit* spruce picea ecolog* ecosystem* biodivers* conservation* habitat* species-distribution
taxonom* phytokeys zookeys zoolog* zoologia entomolog* herbivor* flora floristic* bryophyt* briófitas
orchid* orchidaceae hoehnea bragantia land-use land-system climate-change fisher* fishing fisheries reef
marine coastal geolog* lithospher* seismic tibet physics física* physik* hamiltonian* polymer polymers
polímeros tobermorite mechanics chemistry chemical chemist chemists química químic* catalys* cataly*
lipase-mediated niobium stereochem* alkaloid* econom* economía economia tax taxes income-tax
microsimulation financ* management administração administrac* business political política* político*
periodist* journalism philosoph* filosofi* epistemolog* foucault bakhtin* linguist* discurso conversação
cinema animação museu* museums library libraries bibliotec* biblioteconomia transinformação informação
information-science metadados metadata publishing peer-review scholarly jats careers archaeolog* isotopic
domestication linear-systems pontos interiores computing software bioinformatic* algorithm* privacy
food-sci* food-technol* food-polic* nuggets sensory milling starch ethnobotan* ethnobiolog* edibles pest*
insecticid* herbicide* pollut* environmental-impact life-cycle coconut hybrid-seed aflatoxin* polyploid*
snp-discovery blast-fungus magnaporthe quartz gravimetr* neutron* laser-induced led-lamp
opposition-to-racism racismo moral-virtue* ethics-scale* implementation-science residency
residents-selection tillering machiavellianism leadership organizational organisational employee*
consumer* symbiotic microbalança ensino ensino-de-física vision* corpora pride
"""

HUMAN_JOURNALS = """
medic* medicine medical clin* surg* oncolog* cancer hematolog* haematolog* cardi* neurolog* psychiatr*
pediatr* paediatr* dent* dentistry oral orthop* radiolog* rheumat* urolog* nephrol* gastro* hepat*
obstet* gynec* dermat* ophthalm* otolaryng* anesth* anaesth* transplant* marrow jama lancet bmj trials
nurs* enferm* saúde salud health epidemiol* diabet* allergy respir* counsel* hospital*
einstein critical emergency infectious tropical endocrin* vascular odontoped* odonto* stem-cell*
stem-cells pathology genetics drugs case-reports
"""
