# make -f gradients.mk: each formula that has changed is checked against the gradient that stands beside it.
# In a project FORMULAS are its files, `loss.txt` and `loss.gradient`, and the rule is the last one.
FORMULAS := $(shell mktemp -d)
$(shell echo 'sum(log(1 + exp(-x)))' > $(FORMULAS)/loss.txt; echo '-sigmoid(-x)' > $(FORMULAS)/loss.gradient)

all: $(FORMULAS)/loss.checked
	@rm -r $(FORMULAS)

%.checked: %.txt %.gradient
	@gradcli check @$< --at 1,-2 --claim "$$(cat $*.gradient)" --format plain
	@touch $@
